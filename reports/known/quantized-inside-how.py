"""How layers that a layer makes for itself were quantized is not known in the clone.

keras/src/layers/attention/multi_head_attention.py:237, and grouped_query_attention.py:628, write nothing of how the
layers that are made when they are built were quantized.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# since = "3.13.0"
# fingerprint = "structure-config-quantization-config-6c3d84d3"
# trial.inputs = [{ shape = [2, 2] }]
# [[match]]
# check = "structure"
# aspect = "config.quantization_config"
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
    .get("quantization_config")
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
