"""`ExtractPatches.get_config` omits `name`, so the operation is renamed in the clone.

https://github.com/keras-team/keras/blob/v3.15.1/keras/src/ops/image.py#L647
"""

import keras
from keras import ops

inputs = keras.Input(shape=(4, 4, 2))
outputs = ops.image.extract_patches(inputs, size=2)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
expected, found = [[operation.name for operation in it.operations[1:]] for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "names"
# verdict = "minor"
# severity = "renamed"
# loading = true
# since = "3.14.0"
# fingerprint = "structure-name-87491fc9"
# trial.inputs = [{ shape = [4, 4, 2] }]
#
# [[match]]
# check = ["structure", "again"]
# aspect = "name"
# kind = "ExtractPatches"
# ///
