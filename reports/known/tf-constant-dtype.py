"""`1.0 - x` under mixed_float16: the constant becomes float32, so cloning raises `TypeError`.

`Node.serialize` converts the constant tensor to a Python number, from which the cloned layer creates a float32 tensor.
Loading and `from_config` raise, too, and so does any other dtype of `x`, such as float64.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/node.py#L215
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/base_layer.py#L1078
"""

import tf_keras as keras
from tf_keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")
inputs = keras.Input(shape=(4,))
gate = layers.Dense(4, activation="sigmoid")(inputs)
model = keras.Model(inputs, 1.0 - gate)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "tf_keras"
# workaround = "write `-x + 1.0` for `1.0 - x`, or compute it in a Lambda layer"
# root = "operations"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "TypeError"
# fingerprint = "made-raises-in-a-call-typeerror-d7f77323"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "made"
# kind = "TFOpLambda"
# found = "*Exception encountered when calling layer*"
# exception = "TypeError"
# frame = "*/layers/core/tf_op_layer.py:_call_wrapper"
# ///
