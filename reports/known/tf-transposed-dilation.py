"""A Conv3DTranspose loses its dilation_rate in the clone.

tf_keras/src/layers/convolutional/conv3d_transpose.py:387 takes the dilation_rate out of the config, and the layer
computes without it.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "structure-attribute-dilation-rate-conv3dtranspose-6a44ded1"
# trial.inputs = [{ shape = [3, 3, 3, 2] }]
# [[match]]
# check = "structure"
# aspect = "attribute.dilation_rate"
# kind = "Conv3DTranspose"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(3, 3, 3, 2))
conv_3dtranspose = layers.Conv3DTranspose(3, kernel_size=2, dilation_rate=(2, 2, 2))(inputs)
model = keras.Model(inputs, conv_3dtranspose)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("conv3d_transpose").dilation_rate[0] for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
