"""`MultiHeadAttention.get_config` omits `flash_attention`, so the clone falls back to the global setting.

`GroupedQueryAttention` does the same.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/attention/multi_head_attention.py#L237
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/attention/grouped_query_attention.py#L628
"""

import keras
from keras import layers

inputs = keras.Input(shape=(2, 2))
outputs = layers.MultiHeadAttention(num_heads=1, key_dim=1, flash_attention=True, name="attention")(inputs, inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("attention")._flash_attention for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "lost-property"
# loading = true
# since = "3.7.0"
#
# [[match]]
# check = "structure"
# aspect = "attribute._flash_attention"
# ///
