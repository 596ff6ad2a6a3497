"""A call gets the training argument that the replaced layer has by default.

keras/src/layers/layer.py:878 keeps the arguments of a call for the node, and no copy of them, so that the default
of the layer's own call that :1086 writes into them is recorded, too, and keras/src/ops/function.py:201 gives it to
whatever takes the layer's place.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# since = "3.10.0"
# until = "3.16.0"
# [[match]]
# check = "structure"
# aspect = "call.kwargs *"
# path = "layers*kwargs['training']*"
# given = ["clone_function", "input_tensors"]
# ///

import keras
from keras import layers


def clone_function(layer):
    if type(layer) is layers.GaussianDropout:
        return layers.Activation("tanh", name=layer.name)
    return layer.__class__.from_config(layer.get_config())


inputs = keras.Input(shape=(1,))
gaussian_dropout = layers.GaussianDropout(0.5, name="noise")(inputs)
model = keras.Model(inputs, gaussian_dropout)

clone = keras.models.clone_model(model, clone_function=clone_function)
found = clone.get_layer("noise")._inbound_nodes[0].arguments.kwargs
assert "training" not in found, f"the Activation is called with {found}"
