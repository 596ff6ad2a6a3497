"""A CategoryEncoding that gives sparse tensors gives dense ones in the clone.

keras/src/layers/preprocessing/category_encoding.py:147 writes a config without sparse.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# until = "3.16.0"
# link = "https://github.com/keras-team/keras/pull/23375"
# fingerprint = "structure-attribute-sparse-categoryencoding-cc642f1a"
# trial.inputs = [{ shape = [3], dtype = "int32", fill = "ids", high = 4 }]
# [[match]]
# check = "structure"
# aspect = "attribute.sparse"
# kind = "CategoryEncoding"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(3,), dtype="int32")
category_encoding = layers.CategoryEncoding(num_tokens=4, sparse=True)(inputs)
model = keras.Model(inputs, category_encoding)

clone = keras.models.clone_model(model)
assert clone.output.sparse == model.output.sparse, (
    f"sparse={clone.output.sparse} in the clone, {model.output.sparse} in the model"
)
