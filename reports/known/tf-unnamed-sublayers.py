"""Unnamed layers inside MultiHeadAttention get other names in the clone.

tf_keras/src/layers/attention/multi_head_attention.py:483 makes a Softmax, and :488 a Dropout, without a name, so
each copy takes the next name that is free.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "name"
# fingerprint = "again-again-name-ef44393c"
# trial.inputs = [{ shape = [3, 4] }]
# [[match]]
# check = ["structure", "again"]
# aspect = "name"
# kind = ["Softmax", "Dropout"]
# inside = "MultiHeadAttention"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(3, 4))
multi_head_attention = layers.MultiHeadAttention(num_heads=2, key_dim=2)(inputs, inputs)
model = keras.Model(inputs, multi_head_attention)

clone = keras.models.clone_model(model)
clone = keras.models.clone_model(model)
expected, found = (it.layers[1]._softmax.name for it in (model, clone))
assert found == expected, f"the Softmax is {found} in the second clone, {expected} in the model"
