"""A call gets the mask that was computed for it in the original, though what comes before it was replaced.

keras/src/layers/layer.py:878 keeps the arguments of a call for the node, and no copy of them, so that the computed
mask that :959 writes into them is recorded, too, and keras/src/ops/function.py:201 gives it to the layer of the
clone as if the user had.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# until = "3.16.0"
# [[match]]
# check = "structure"
# aspect = "call.kwargs *"
# path = "layers*kwargs['mask']*"
# given = ["clone_function", "call_function", "input_tensors"]
#
# [[match]]
# check = "structure"
# aspect = ["call.args *", "layer *"]
# kind = "NotEqual"
# given = ["clone_function", "call_function"]
#
# [[match]]
# check = "structure"
# aspect = "layer extra"
# kind = ["GetItem", "Greater"]
# given = "clone_function"
#
# [[match]]
# check = "structure"
# aspect = "call.args tensor"
# kind = "GetItem"
# given = "call_function"
#
# [[match]]
# check = "structure"
# aspect = "layer missing"
# kind = "Cast"
# given = ["call_function", "input_tensors"]
#
# [[match]]
# check = "made"
# found = "*unexpected keyword argument 'mask'*"
# exception = "TypeError"
# frame = "keras/src/layers/layer.py:__init__"
# given = "clone_function"
# ///

import keras
from keras import layers


def clone_function(layer):
    config = layer.get_config()
    if type(layer) is layers.Embedding:
        config["mask_zero"] = False
    return layer.__class__.from_config(config)


inputs = keras.Input(shape=(1,), dtype="int32")
embedding = layers.Embedding(6, output_dim=1, mask_zero=True)(inputs)
lstm = layers.LSTM(1, name="lstm")(embedding)
model = keras.Model(inputs, lstm)

clone = keras.models.clone_model(model, clone_function=clone_function)
mask = clone.get_layer("lstm")._inbound_nodes[0].arguments.kwargs.get("mask")
assert mask is None, f"the LSTM is called with the mask {mask}, though no layer of the clone makes one"
