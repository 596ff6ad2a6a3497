"""Unnamed layers inside MultiHeadAttention get other names in the clone.

keras/src/layers/attention/multi_head_attention.py:455 makes a Softmax, and :456 a Dropout, without a name, so each
copy takes the next name that is free.
"""

# /// clonediff
# generation = "keras"
# severity = "name"
# fingerprint = "structure-name-87491fc9"
# trial.inputs = [{ shape = [-1, 4] }]
# [[match]]
# check = ["structure", "again"]
# aspect = "name"
# kind = ["Softmax", "Dropout"]
# inside = "*Attention"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(None, 4))
multi_head_attention = layers.MultiHeadAttention(num_heads=2, key_dim=2)(inputs, inputs)
model = keras.Model(inputs, multi_head_attention)

clone = keras.models.clone_model(model)
expected, found = [
    [each.name for each in it._flatten_layers() if not isinstance(each, keras.layers.InputLayer)]
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
