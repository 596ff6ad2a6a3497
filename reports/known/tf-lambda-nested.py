"""A Lambda of a Python lambda inside a nested model cannot be cloned.

tf_keras/src/saving/serialization_lib.py:725 opens a scope of safe mode that clone_model did not ask for, and
tf_keras/src/layers/core/lambda_layer.py:394 refuses the layer there.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "ValueError"
# since = "2.13.0"
# fingerprint = "made-raises-valueerror-4e92ec7b"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# kind = "Lambda"
# found = "*Lambda layer with a Python `lambda` inside it*"
# exception = "ValueError"
# frame = "*/layers/core/lambda_layer.py:_parse_function_from_config"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(4,))
inner_model = keras.Sequential([keras.Input(shape=(4,)), layers.Lambda(lambda x: x * 2.0)])
sequential = inner_model(inputs)
model = keras.Model(inputs, sequential)

clone = keras.models.clone_model(model)
