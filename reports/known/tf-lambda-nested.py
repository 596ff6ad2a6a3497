"""`Lambda.from_config` runs in safe mode in a nested model, so cloning a lambda raises.

Deserializing the nested model opens a safe mode scope, which `clone_model` did not ask for. The only way out is
`keras.__internal__.enable_unsafe_deserialization()`.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/saving/serialization_lib.py#L725
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/layers/core/lambda_layer.py#L394
"""

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(4,))
inner = keras.Sequential([keras.Input(shape=(4,)), layers.Lambda(lambda x: x * 2.0)])
model = keras.Model(inputs, inner(inputs))

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "tf_keras"
# root = "file-format"
# verdict = "accept"
# severity = "crash"
# raises = "ValueError"
# since = "2.13.0"
# link = "https://github.com/keras-team/tf-keras/issues/44"
# fingerprint = "made-raises-valueerror-4e92ec7b"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "made"
# kind = "Lambda"
# found = "*Lambda layer with a Python `lambda` inside it*"
# exception = "ValueError"
# frame = "*/layers/core/lambda_layer.py:_parse_function_from_config"
# ///
