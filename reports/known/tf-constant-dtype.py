"""A constant of float64 in an operation is float32 in the clone, which cannot be made.

tf_keras/src/engine/node.py:215 turns a constant tensor into a plain number, and
tf_keras/src/engine/base_layer.py:1078 makes a float32 of that when the clone's layer is called.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-in-a-call-typeerror-d7f77323"
# trial.inputs = [{ shape = [4], dtype = "float64" }]
# [[match]]
# check = "made"
# kind = "TFOpLambda"
# found = "*Exception encountered when calling layer*"
# exception = "TypeError"
# frame = "*/layers/core/tf_op_layer.py:_call_wrapper"
# ///

import tf_keras as keras

inputs = keras.Input(shape=(4,), dtype="float64")
from_one = 1.0 - inputs
model = keras.Model(inputs, from_one)

clone = keras.models.clone_model(model)
