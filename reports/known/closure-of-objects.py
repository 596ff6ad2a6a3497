"""A layer that was given a Python lambda which closes over a variable or a layer cannot be cloned.

keras/src/utils/python_utils.py:48 puts what the lambda closes over into the config as it is, and
keras/src/saving/serialization_lib.py:629 takes no variable and no layer for a config.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-b7d55d89"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# found = "*Could not parse config*"
# exception = "TypeError"
# ///

import keras
from keras import layers


def times(by):
    by.build(())
    return lambda x: x * by.embeddings[0, 0]


inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4, activation=times(layers.Embedding(1, 1)))(inputs))

clone = keras.models.clone_model(model)
