"""A Lambda of a Python lambda cannot be cloned.

keras/src/models/cloning.py:219 calls from_config and sets no safe mode, which
keras/src/layers/core/lambda_layer.py:193 counts as safe, so that :200 refuses the layer.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "ValueError"
# since = "3.15.0"
# link = "https://github.com/keras-team/keras/pull/23048"
# fingerprint = "made-raises-valueerror-c7fe8e53"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# found = "*`Lambda` layer*Python lambda*"
# exception = "ValueError"
# frame = "keras/src/layers/core/lambda_layer.py:*"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
lambda_2 = layers.Lambda(lambda x: x * 2.0)(inputs)
model = keras.Model(inputs, lambda_2)

clone = keras.models.clone_model(model)
