"""`clone_model` reuses the recorded implicit `mask` when `clone_function` replaces the layer that produced it.

`Layer.__call__` adds the mask, and the default of `training`, to the recorded arguments of the call, so the clone
passes both to the layer as if the user had.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/layer.py#L878
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/ops/function.py#L201
"""

import keras
import numpy as np
from keras import layers


def without_mask(layer):
    config = layer.get_config()
    if isinstance(layer, layers.Embedding):
        config["mask_zero"] = False
    return layer.__class__.from_config(config)


inputs = keras.Input(shape=(2,), dtype="int32")
x = layers.Embedding(6, output_dim=1, mask_zero=True, name="embedding")(inputs)
model = keras.Model(inputs, layers.LSTM(1, name="lstm")(x))

clone = keras.models.clone_model(model, clone_function=without_mask)
x = np.array([[1, 0]], dtype="int32")
expected = float(clone.get_layer("lstm")(clone.get_layer("embedding")(x))[0, 0])
found = float(clone(x)[0, 0])
assert abs(found - expected) < 1e-6, f"the clone computes {found}, its layers, called one by one, {expected}"

# /// clonediff
# generation = "keras"
# root = "order"
# verdict = "accept"
# severity = "wrong-output"
# until = "3.16.0"
#
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
#
# [[match]]
# check = "structure"
# aspect = "call.kwargs *"
# path = "layers*kwargs['training']*"
# given = ["clone_function", "input_tensors"]
# ///
