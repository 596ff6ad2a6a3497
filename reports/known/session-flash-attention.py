"""Whether an attention is to be computed by flash attention is forgotten, and is what the session says when it
is cloned.

keras/src/layers/attention/multi_head_attention.py:237, and grouped_query_attention.py:628 there, write a config
without flash_attention, for which the constructor then asks the session (multi_head_attention.py:175); only private
attributes tell, so that only --private sees it.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# [[match]]
# check = "structure"
# aspect = "attribute._flash_attention"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(2, 2))
multi_head_attention = layers.MultiHeadAttention(num_heads=1, key_dim=1)(inputs, inputs)
model = keras.Model(inputs, multi_head_attention)
keras.config.disable_flash_attention()

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("multi_head_attention")._flash_attention for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
