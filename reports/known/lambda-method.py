"""A Lambda or an activation of a bound method cannot be cloned.

keras/src/saving/serialization_lib.py:414 writes a bound method as an object whose config is its name, and :740
refuses such a config.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# since = "3.15.0"
# until = "3.16.0"
# fingerprint = "made-raises-typeerror-b7d55d89"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# kind = ""
# found = "*to be a dict for method,*"
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:deserialize_keras_object"
# ///

import keras
from keras import layers


class Factor:
    def __init__(self, by):
        self.by = by

    def apply(self, x):
        return x * self.by


inputs = keras.Input(shape=(4,))
lambda_2 = layers.Lambda(Factor(2.0).apply)(inputs)
model = keras.Model(inputs, lambda_2)

clone = keras.models.clone_model(model)
