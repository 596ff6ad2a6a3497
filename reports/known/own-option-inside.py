"""`Functional` subclass with a constructor argument: cloning an outer model raises (fixed in 3.15).

Up to 3.14, the argument names of the constructor are read from a decorator that names none. So a class that names its
arguments is not recognized as a functional model, and its config has no layers.
https://github.com/keras-team/keras/blob/v3.14.1/keras/src/models/functional.py#L713
https://github.com/keras-team/keras/blob/v3.14.1/keras/src/models/model.py#L839
"""

import keras
from keras import layers


@keras.saving.register_keras_serializable()
class Scaled(keras.Model):
    def __init__(self, inputs, outputs, name=None, *, factor=1.0, **kwargs):
        super().__init__(inputs, outputs, name=name, **kwargs)
        self.factor = factor

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


x = keras.Input(shape=(1,))
inner = Scaled(x, layers.Activation("relu")(x), factor=2.0)
inputs = keras.Input(shape=(1,))
model = keras.Model(inputs, inner(inputs))

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "rebuilt"
# verdict = "accept"
# severity = "crash"
# raises = "TypeError"
# until = "3.15.0"
# fingerprint = "made-raises-typeerror-20df5d8a"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# found = "*missing*'inputs' and 'outputs'*"
# exception = "TypeError"
# frame = "keras/src/models/model.py:from_config"
# ///
