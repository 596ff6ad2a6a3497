"""`CategoryEncoding.get_config` omits `sparse`, so the clone returns dense outputs.

https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/preprocessing/category_encoding.py#L147
"""

import keras
from keras import layers

inputs = keras.Input(shape=(3,), dtype="int32")
outputs = layers.CategoryEncoding(num_tokens=4, sparse=True)(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
expected, found = model.output.sparse, clone.output.sparse
assert found == expected, f"`output.sparse` is {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "wrong-output"
# loading = true
# until = "3.16.0"
# link = "https://github.com/keras-team/keras/pull/23375"
# fingerprint = "structure-attribute-sparse-categoryencoding-cc642f1a"
# trial.inputs = [{ shape = [3], dtype = "int32", fill = "ids", high = 4 }]
#
# [[match]]
# check = "structure"
# aspect = "attribute.sparse"
# kind = "CategoryEncoding"
# ///
