"""A lookup, also the one inside a TextVectorization, has the dtype policy of the time when it is cloned.

keras/src/layers/preprocessing/index_lookup.py:248 drops the dtype that a config tells, so that the lookup gets the
global policy of now, and text_vectorization.py:348 there makes one with no dtype.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-config-dtype-6d45574f"
# trial.inputs = [{ shape = [1], dtype = "string", fill = "words" }]
# [[match]]
# check = "structure"
# aspect = "config.dtype"
# kind = ["StringLookup", "IntegerLookup"]
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,), dtype="string")
text_vectorization = layers.TextVectorization(vocabulary=["red", "green", "a"], output_sequence_length=3)(inputs)
model = keras.Model(inputs, text_vectorization)
keras.config.set_dtype_policy("mixed_bfloat16")

clone = keras.models.clone_model(model)
expected, found = (it.layers[1]._lookup_layer.dtype_policy.name for it in (model, clone))
assert found == expected, f"the lookup has the policy {found} in the clone, {expected} in the model"
