"""A layer that is the activation of two others, or both activations of one, is two layers in the clone.

tf_keras/src/models/cloning.py:52 makes each layer from a config of its own, and each has its activation in it.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "computes"
# link = "https://www.tensorflow.org/api_docs/python/tf/keras/models/clone_model"
# documented = true
# fingerprint = "sharing-layer-unshared-80dfe98f"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "sharing"
# aspect = "layer unshared"
# given = "inside a layer"
#
# [[match]]
# check = "structure"
# aspect = "layer extra"
# inside = ["GRUCell", "LSTMCell", "ConvLSTM*Cell"]
# ///

import tf_keras as keras
from tf_keras import layers

shared_activation = layers.ReLU(negative_slope=0.5)

inputs = keras.Input(shape=(1,))
dense = layers.Dense(1, activation=shared_activation)(inputs)
dense_2 = layers.Dense(1, activation=shared_activation)(dense)
model = keras.Model(inputs, dense_2)

clone = keras.models.clone_model(model)
first, second = (layer.activation for layer in clone.layers[1:])
assert first is second, "the activation is one layer in the model, and two in the clone"
