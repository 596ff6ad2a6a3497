"""A LayerNormalization whose first call is another in the clone computes in another way there.

tf_keras/src/layers/normalization/layer_normalization.py:251 decides in build whether fused_batch_norm is used
(:201), which takes all axes from the first that is given on, and a layer is built by its first call; that of the
clone is one on another rank, where clone_model (tf_keras/src/models/cloning.py:52) makes the layer anew and repeats
the calls of the model alone, by their depth.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "computes"
# fingerprint = "outputs-value-layernormalization-9a5ba8ab"
# trial.inputs = [{ shape = [1] }, { shape = [1, 1] }]
# [[match]]
# check = "outputs"
# aspect = "value"
# path = "inference.steps*"
# kind = "LayerNormalization"
# given = "LayerNormalization called more than once"
# ///

import numpy as np
import tf_keras as keras
from tf_keras import layers

input_1 = keras.Input(shape=(1,))
input_2 = keras.Input(shape=(1, 1))
layer_normalization_layer = layers.LayerNormalization()
layer_normalization = layer_normalization_layer(input_1)
layer_normalization_2 = layer_normalization_layer(input_2)
model = keras.Model([input_1, input_2], layer_normalization_2)

clone = keras.models.clone_model(model)
expected, found = (it.layers[-1]._fused for it in (model, clone))
assert found == expected, f"the fused kernel: {found} in the clone, {expected} in the model"
