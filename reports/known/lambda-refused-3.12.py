"""A Lambda of a Python lambda cannot be cloned.

keras/src/layers/core/lambda_layer.py:193 counts an unset safe mode as safe, from 3.12.3 on in that branch, and
clone_model sets none, so :200 refuses the layer.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "ValueError"
# since = "3.12.3"
# until = "3.13.0"
# link = "https://github.com/keras-team/keras/pull/23165"
# fingerprint = "made-raises-valueerror-c7fe8e53"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# found = "*`Lambda` layer*Python lambda*"
# exception = "ValueError"
# frame = "keras/src/layers/core/lambda_layer.py:*"
# ///

# keras 3.12.3, tensorflow 2.21.0, numpy 2.4.6, python 3.11.7

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
lambda_2 = layers.Lambda(lambda x: x * 2.0)(inputs)
model = keras.Model(inputs, lambda_2)

clone = keras.models.clone_model(model)
