"""`MultiHeadAttention.get_config` omits the quantization of its sublayers, so `set_weights` raises.

`build` creates the sublayers unquantized. `GroupedQueryAttention` does the same.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/attention/multi_head_attention.py#L237
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/attention/grouped_query_attention.py#L628
"""

import keras
from keras import layers

inputs = keras.Input(shape=(2, 2))
outputs = layers.MultiHeadAttention(num_heads=1, key_dim=1)(inputs, inputs)
model = keras.Model(inputs, outputs)
model.quantize("int8")

clone = keras.models.clone_model(model)
clone.set_weights(model.get_weights())

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "ValueError"
# since = "3.6.0"
# fingerprint = "structure-config-dtype-6d45574f"
# trial.inputs = [{ shape = [2, 2] }]
#
# [[match]]
# check = "structure"
# aspect = "config.dtype"
# expected = ["*Quantized*", "*Int4DTypePolicy*"]
# given = "inside a layer"
#
# [[match]]
# check = "structure"
# aspect = "config.quantization_config"
# given = "inside a layer"
#
# [[match]]
# check = "structure"
# aspect = "attribute.kernel" # which "int4" computes from weights that are not loaded
# kind = "Dense"
# path = "layers['*/*']*"
# expected = "array of *, int8: *"
# ///
