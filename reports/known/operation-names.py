"""An operation that was made of arguments has another name in the clone.

in 3.10.0, keras/src/ops/operation.py:192 leaves the name out of the config of an operation whose constructor takes
none, as hardly one does.
"""

# /// clonediff
# generation = "keras"
# severity = "name"
# since = "3.3.3"
# until = "3.11.0"
# fingerprint = "structure-name-87491fc9"
# trial.inputs = [{ shape = [4] }]
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

# keras 3.10.0, tensorflow 2.21.0, numpy 2.4.6, python 3.11.7

import keras
from keras import ops

inputs = keras.Input(shape=(4,))
sort = ops.sort(inputs, axis=1)
model = keras.Model(inputs, sort)

clone = keras.models.clone_model(model)
expected, found = [
    [each.name for each in it.operations if not isinstance(each, keras.layers.InputLayer)] for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
