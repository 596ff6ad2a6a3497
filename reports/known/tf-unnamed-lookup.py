"""The StringLookup inside a TextVectorization gets another name in the clone.

tf_keras/src/layers/preprocessing/text_vectorization.py:385 makes it without a name, so each copy takes the next
name that is free.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "name"
# fingerprint = "structure-name-87491fc9"
# trial.inputs = [{ shape = [1], dtype = "string", fill = "words" }]
# [[match]]
# check = ["structure", "again"]
# aspect = "name"
# kind = "StringLookup"
# inside = "TextVectorization"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,), dtype="string")
text_vectorization = layers.TextVectorization(vocabulary=["red", "green", "a"], output_sequence_length=3)(inputs)
model = keras.Model(inputs, text_vectorization)

clone = keras.models.clone_model(model)
expected, found = [
    [each.name for each in it._flatten_layers() if not isinstance(each, keras.layers.InputLayer)]
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
