"""`VectorizedMap.get_config` returns its function unserialized, so cloning `ops.vectorized_map` raises.

`from_config` deserializes the function as if it were a config. A registered function raises, too. In a nested
model, whose config is serialized as a whole, a lambda raises, since it is deserialized in safe mode.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/ops/core.py#L1159
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/ops/core.py#L1165
"""

import keras
from keras import ops


@keras.saving.register_keras_serializable()
def double(x):
    return x * 2.0


inputs = keras.Input(shape=(4,))
outputs = ops.vectorized_map(double, inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "operations"
# verdict = "accept"
# severity = "crash"
# raises = "TypeError"
# since = "3.12.0"
# fingerprint = "made-raises-typeerror-b2a9208f"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "made"
# found = [
#     "*functools.partial*", "*Could not parse config: <function*", "*Could not parse config: <bound method*",
# ]
# exception = "TypeError"
# frame = "keras/src/ops/core.py:from_config"
#
# [[match]]
# check = "made"
# found = "*Python lambda*"
# exception = "ValueError"
# frame = "keras/src/ops/core.py:from_config"
# ///
