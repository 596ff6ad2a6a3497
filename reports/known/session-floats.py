"""An operation on whole numbers, or a lookup, gives floats of the session's floatx when it is cloned.

keras/src/models/cloning.py:407 calls it again, and what it gives is asked of the session then:
keras/src/backend/common/dtypes.py:270 for an operation, keras/src/layers/preprocessing/index_lookup.py:641 and
text_vectorization.py:390 there for a lookup.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# fingerprint = "structure-output-dtype-sqrt-49454dd5"
# trial.inputs = [{ shape = [3], dtype = "int32", fill = "ids", high = 6 }]
# [[match]]
# check = "structure"
# aspect = "output dtype"
# expected = ["float16", "bfloat16", "float32", "float64"]
# found = ["float16", "bfloat16", "float32", "float64"]
# ///

import keras
from keras import ops

inputs = keras.Input(shape=(3,), dtype="int32")
sqrt = ops.sqrt(inputs)
model = keras.Model(inputs, sqrt)
keras.config.set_floatx("float64")

clone = keras.models.clone_model(model)
assert clone.output.dtype == model.output.dtype, f"{clone.output.dtype} in the clone, {model.output.dtype} in the model"
