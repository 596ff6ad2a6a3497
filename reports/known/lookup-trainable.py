"""A frozen IntegerLookup or StringLookup is not frozen in the clone.

keras/src/layers/preprocessing/index_lookup.py:247 throws trainable away; it has no weights to train, so that
training is the same.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-trainable-ab564334"
# trial.inputs = [{ shape = [3], dtype = "int32", fill = "ids", high = 6 }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = ["IntegerLookup", "StringLookup"]
# inside = ["", "Functional", "Sequential"]
# found = "true"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(3,), dtype="int32")
integer_lookup_layer = layers.IntegerLookup(vocabulary=[1, 2, 4])
integer_lookup_layer.trainable = False
integer_lookup = integer_lookup_layer(inputs)
model = keras.Model(inputs, integer_lookup)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("integer_lookup").trainable for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
