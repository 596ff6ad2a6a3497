"""Layers that a layer makes for itself and that were quantized are not quantized in the clone.

keras/src/layers/attention/multi_head_attention.py:237, and grouped_query_attention.py:628, write nothing of the
layers that are made when they are built.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# fingerprint = "structure-config-dtype-6d45574f"
# trial.inputs = [{ shape = [2, 2] }]
# [[match]]
# check = "structure"
# aspect = "config.dtype"
# expected = ["*Quantized*", "*Int4DTypePolicy*"]
# given = "inside a layer"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(2, 2))
multi_head_attention = layers.MultiHeadAttention(num_heads=1, key_dim=1)(inputs, inputs)
model = keras.Model(inputs, multi_head_attention)
model.quantize("int8")

clone = keras.models.clone_model(model)
expected, found = [
    next(
        each
        for each in it.get_layer("multi_head_attention")._flatten_layers(include_self=False)
        if each.name == "query"
    )
    .get_config()
    .get("dtype")
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
