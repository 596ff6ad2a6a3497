"""A functional model whose class has an option of its own cannot be cloned within another.

in 3.14.1, keras/src/models/functional.py:713 reads the arguments of Functional's constructor off a decorator, which
has none, so that no class that names them is taken for a functional one: its config has no layers, and
keras/src/models/model.py:839 calls the class without inputs and outputs.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# since = "3.3.3"
# until = "3.15.0"
# fingerprint = "made-raises-typeerror-20df5d8a"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = "*missing*'inputs' and 'outputs'*"
# exception = "TypeError"
# frame = "keras/src/models/model.py:from_config"
# ///

# keras 3.14.1, tensorflow 2.21.0, numpy 2.4.6, python 3.11.7

import keras
from keras import layers


class OwnModel(keras.Model):
    def __init__(self, inputs, outputs, name=None, *, factor=1.0, **kwargs):
        super().__init__(inputs, outputs, name=name, **kwargs)
        self.factor = factor

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


inputs = keras.Input(shape=(1,))
inner_inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inner_inputs)
inner_model = OwnModel(inner_inputs, activation, factor=2.0)
model_2 = inner_model(inputs)
model = keras.Model(inputs, model_2)

clone = keras.models.clone_model(model)
