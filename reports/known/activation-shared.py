"""A layer that two others hold, as their activation, say, is two layers in the clone.

keras/src/models/cloning.py:219 makes each layer from a config of its own, and each has the layers that it holds in it.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# link = "https://keras.io/api/models/model_saving_apis/model_config_serialization/"
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

import keras
from keras import layers

shared_activation = layers.ReLU(negative_slope=0.5)

inputs = keras.Input(shape=(1,))
dense = layers.Dense(1, activation=shared_activation)(inputs)
dense_2 = layers.Dense(1, activation=shared_activation)(dense)
model = keras.Model(inputs, dense_2)

clone = keras.models.clone_model(model)
first, second = (layer.activation for layer in clone.layers[1:])
assert first is second, "the activation is one layer in the model, and two in the clone"
