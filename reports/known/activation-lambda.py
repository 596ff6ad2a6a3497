"""A layer that was given a Python lambda, for its activation say, cannot be cloned.

keras/src/activations/__init__.py:102 leaves of the lambda no more than its code, without the word that it is one,
so that :121 reads a plain dictionary, and :128 refuses it.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-24b6cbae"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = "*Could not interpret activation function identifier: {'value'*"
# exception = "*Error"
# frame = "keras/src/activations/__init__.py:get"
#
# [[match]]
# check = "made"
# kind = ""
# found = "*deserialization of a Python lambda*"
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:deserialize_keras_object"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
dense = layers.Dense(1, activation=lambda x: x * 2.0)(inputs)
model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
