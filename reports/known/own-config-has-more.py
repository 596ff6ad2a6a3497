"""A layer of a custom class whose get_config has a key that its constructor does not take cannot be cloned.

keras/src/layers/layer.py:294 takes no other argument. Keras says that get_config has the arguments of the constructor.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# link = "https://keras.io/guides/serialization_and_saving/"
# documented = true
# fingerprint = "made-raises-typeerror-9cf0226a"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# found = "*Unrecognized keyword arguments*"
# frame = "keras/src/layers/layer.py:__init__"
# ///

import keras
from keras import layers


class Times(layers.Layer):
    def __init__(self, by, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def call(self, x):
        return x * self.by

    def get_config(self):
        return {**super().get_config(), "by": self.by, "more": 3}


inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, Times(2.0)(inputs))

clone = keras.models.clone_model(model)
