"""`Operation.get_config` omits `name`, so operations are renamed in the clone.

https://github.com/keras-team/keras/blob/v3.10.0/keras/src/ops/operation.py#L192
"""

import keras
from keras import ops

inputs = keras.Input(shape=(4,))
outputs = ops.sort(inputs, axis=1)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
expected, found = [[operation.name for operation in it.operations[1:]] for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "names"
# verdict = "minor"
# severity = "renamed"
# until = "3.11.0"
# fingerprint = "structure-name-87491fc9"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "structure"
# aspect = "name"
# path = "layers['*'].name"
#
# [[match]]
# check = "again"
# aspect = "name"
# path = "*.name"
# ///
