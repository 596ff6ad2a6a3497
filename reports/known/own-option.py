"""An option of the class of a functional model, which its config tells, has its default in the clone.

keras/src/models/cloning.py:414 gives the class inputs, outputs and a name, and no more: the config of its own is
not asked for, since :166 has put a function in the place of clone_function before :179 asks for one. In a recursive
clone it is the same for a model within (:240).
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# since = "3.15.0"
# fingerprint = "structure-attribute-factor-ownmodel-f8bd8719"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.*"
# expected = "*.*"
# found = "*.*"
# given = "a model of one's own"
#
# [[match]]
# check = "structure"
# aspect = "config.*"
# kind = "Functional"
# given = "recursive"
# ///

import keras
from keras import layers


class OwnModel(keras.Model):
    def __init__(self, inputs, outputs, name=None, *, factor=1.0, **kwargs):
        super().__init__(inputs, outputs, name=name, **kwargs)
        self.factor = factor

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = OwnModel(inputs, activation, factor=2.0)

clone = keras.models.clone_model(model)
expected, found = [it.factor for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
