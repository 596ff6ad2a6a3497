"""An operation that extracts patches of images has another name in the clone.

keras/src/ops/image.py:647 writes a config without the name.
"""

# /// clonediff
# generation = "keras"
# severity = "name"
# fingerprint = "structure-name-87491fc9"
# trial.inputs = [{ shape = [4, 4, 2] }]
# [[match]]
# check = ["structure", "again"]
# aspect = "name"
# kind = "ExtractPatches"
# ///

import keras
from keras import ops

inputs = keras.Input(shape=(4, 4, 2))
extract_patches = ops.image.extract_patches(inputs, size=2)
model = keras.Model(inputs, extract_patches)

clone = keras.models.clone_model(model)
expected, found = [
    [each.name for each in it.operations if not isinstance(each, keras.layers.InputLayer)] for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
