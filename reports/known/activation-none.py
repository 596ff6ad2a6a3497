"""A layer whose activation was set to None after it was made cannot be cloned.

keras/src/layers/core/dense.py hands None to keras/src/activations/__init__.py:79, which looks for a key in it.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-993774c7"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# exception = "TypeError"
# frame = "keras/src/activations/__init__.py:serialize"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4)(inputs))
model.layers[1].activation = None

clone = keras.models.clone_model(model)
