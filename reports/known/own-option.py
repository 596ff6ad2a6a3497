"""`clone_model` ignores `get_config` of a `Functional` subclass, so constructor arguments are reset to their defaults.

The class is called with inputs, outputs and a name. The branch that uses the config is dead code: it requires that
there is no `clone_function`, but a default function has been set before. A class with other positional constructor
arguments than `Functional` becomes a plain `Functional`.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L414
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L179
"""

import keras
import numpy as np
from keras import layers


@keras.saving.register_keras_serializable()
class Scaled(keras.Model):
    def __init__(self, inputs, outputs, name=None, *, factor=1.0, **kwargs):
        super().__init__(inputs, outputs, name=name, **kwargs)
        self.factor = factor

    def call(self, inputs, training=None, mask=None):
        return super().call(inputs, training=training, mask=mask) * self.factor

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


inputs = keras.Input(shape=(1,))
outputs = layers.Activation("relu")(inputs)
model = Scaled(inputs, outputs, factor=2.0)

clone = keras.models.clone_model(model)
x = np.array([[1.0]], dtype="float32")
expected, found = float(model(x)[0, 0]), float(clone(x)[0, 0])
assert found == expected, f"1.0 becomes {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "rebuilt"
# verdict = "accept"
# severity = "wrong-output"
# link = "https://github.com/keras-team/keras/issues/20979"
# fingerprint = "structure-attribute-factor-scaled-e548f400"
# workaround = "clone with `clonediff.clone_model`, or give the class the constructor of `keras.Model`: inputs, outputs, name"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "structure"
# aspect = "attribute.*"
# expected = "*.*"
# found = "*.*"
# given = "a custom model"
#
# [[match]]
# check = "structure"
# aspect = "config.*"
# kind = "Functional"
# given = "recursive"
#
# [[match]]
# check = "structure"
# aspect = "kind"
# path = "model.kind"
# found = "Functional"
# ///
