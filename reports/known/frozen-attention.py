"""The weights of a MultiHeadAttention that was frozen once it was built are trainable in the clone.

keras/src/layers/attention/multi_head_attention.py:294 makes the layers inside, which hold the weights, only when it
is built, and does not hand on the trainable flag that the clone has from the config.
"""

# /// clonediff
# generation = "keras"
# severity = "trains"
# fingerprint = "structure-trainable-in-multiheadattention-165d8d5f"
# trial.inputs = [{ shape = [3, 4] }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "EinsumDense"
# inside = "*Attention"
# found = "true"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(3, 4))
multi_head_attention = layers.MultiHeadAttention(num_heads=2, key_dim=2)(inputs, inputs)
model = keras.Model(inputs, multi_head_attention)
model.trainable = False

clone = keras.models.clone_model(model)
expected, found = [
    next(
        each
        for each in it.get_layer("multi_head_attention")._flatten_layers(include_self=False)
        if each.name == "query"
    ).trainable
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
