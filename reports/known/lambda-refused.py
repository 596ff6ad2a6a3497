"""`Lambda.from_config` defaults to safe mode, so cloning a layer with a lambda raises.

`clone_model` calls `from_config` without setting `safe_mode`, and unset counts as safe, though the config was just
created from the model at hand. 3.12.3 rejected a lambda, too.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L219
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/core/lambda_layer.py#L193
"""

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
outputs = layers.Lambda(lambda x: x * 2.0)(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "file-format"
# verdict = "accept"
# severity = "crash"
# raises = "ValueError"
# since = "3.15.0"
# link = "https://github.com/keras-team/keras/pull/23048"
# fingerprint = "made-raises-valueerror-c7fe8e53"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "made"
# found = "*`Lambda` layer*Python lambda*"
# exception = "ValueError"
# frame = "keras/src/layers/core/lambda_layer.py:*"
# ///
