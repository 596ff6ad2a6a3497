"""A layer of a custom class whose constructor takes no name cannot be cloned.

keras/src/ops/operation.py:357 gives the constructor all that the get_config of the base has, the name among it. Keras says
that it has to take it.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# link = "https://keras.io/guides/serialization_and_saving/"
# documented = true
# fingerprint = "made-raises-typeerror-c8c80016"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# exception = "TypeError"
# frame = "keras/src/ops/operation.py:from_config"
# given = "a layer of one's own"
# ///

import keras
from keras import layers


class Times(layers.Layer):
    def __init__(self, by):
        super().__init__()
        self.by = by

    def call(self, x):
        return x * self.by

    def get_config(self):
        return {**super().get_config(), "by": self.by}


inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, Times(2.0)(inputs))

clone = keras.models.clone_model(model)
