"""Layers that a clone_function keeps have the calls of the original in the clone, too.

tf_keras/src/models/cloning.py:254 puts a layer that its output does not need back into the clone with all its
calls, and where layers are kept, those of the original are among them.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# ///

import tf_keras as keras
from tf_keras import layers


def clone_function(layer):
    return layer


inputs = keras.Input(shape=(1,))
activation_layer = layers.Activation("relu")
activation = activation_layer(inputs)
model = keras.Model(inputs, activation)
model.extra = layers.Dense(4)
model.extra.build((None, 4))

clone = keras.models.clone_model(model, clone_function=clone_function)

# The model that is asked for, made by hand.
inputs = keras.Input(shape=(1,))
activation = clone_function(activation_layer)(inputs)
model = keras.Model(inputs, activation)
model.extra = layers.Dense(4)
model.extra.build((None, 4))
expected, found = [
    [len(each._network_nodes) for each in it._flatten_layers() if isinstance(each, keras.Model)]
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
