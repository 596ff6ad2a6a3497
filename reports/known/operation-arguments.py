"""`ops.while_loop`: an operation with function arguments has no config, so cloning raises.

Operations are cloned through their configs, like layers, though they have no state. `ops.map` can be cloned, but not in
a nested model, whose config has to represent the function.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L219
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/ops/operation.py#L308
"""

import keras
from keras import ops

inputs = keras.Input(shape=(4,))
outputs = ops.while_loop(lambda v: ops.max(v) < 3.0, lambda v: v + 1.0, inputs, maximum_iterations=3)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "operations"
# verdict = "minor"
# severity = "crash"
# loading = true
# raises = "NotImplementedError"
# since = "3.12.0"
# fingerprint = "made-raises-notimplementederror-7bde9185"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "made"
# exception = "NotImplementedError"
# frame = "keras/src/ops/operation.py:get_config"
#
# [[match]]
# check = "made"
# found = "*Python lambda*"
# exception = "ValueError"
# frame = "keras/src/saving/serialization_lib.py:deserialize_keras_object"
# ///
