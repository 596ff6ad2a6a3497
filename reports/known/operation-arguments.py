"""An operation, or a layer without a get_config, that was made of a function or an array cannot be cloned.

keras/src/ops/operation.py:308 has no config for an operation whose arguments are no plain data, and
keras/src/models/cloning.py:219 asks each for one.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "NotImplementedError"
# since = "3.3.3"
# fingerprint = "made-raises-notimplementederror-7bde9185"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# exception = "NotImplementedError"
# frame = "keras/src/ops/operation.py:get_config"
# ///

import keras
from keras import ops

inputs = keras.Input(shape=(4,))
while_loop = ops.while_loop(lambda v: ops.max(v) < 3.0, lambda v: v + 1.0, inputs, maximum_iterations=3)
model = keras.Model(inputs, while_loop)

clone = keras.models.clone_model(model)
