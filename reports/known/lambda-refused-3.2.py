"""A Lambda of a Python lambda cannot be cloned.

in 3.2.1, keras/src/models/cloning.py:122 reads the whole model back from its config, which is done in safe mode, so
keras/src/layers/core/lambda_layer.py:190 refuses the layer.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "ValueError"
# until = "3.3.3"
# fingerprint = "made-raises-valueerror-c7fe8e53"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# found = "*`Lambda` layer*Python lambda*"
# exception = "ValueError"
# frame = "keras/src/layers/core/lambda_layer.py:*"
# ///

# keras 3.1.1, tensorflow 2.21.0, numpy 2.4.6, python 3.11.7

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
lambda_2 = layers.Lambda(lambda x: x * 2.0)(inputs)
model = keras.Model(inputs, lambda_2)

clone = keras.models.clone_model(model)
