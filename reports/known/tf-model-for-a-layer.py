"""With a model in the place of a layer, a functional model is cloned for ever, or not at all.

tf_keras/src/engine/functional.py:1497 counts the calls of a model from 1, where :1590 has counted those of the
layer that it replaces from 0: the call is waited for for ever, or, of the last layer, not found.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "TypeError"
# link = "https://github.com/tensorflow/tensorflow/issues/61492"
# [[match]]
# check = "made"
# aspect = "process timed out"
# exception = "timed out"
# frame = "*keras/*:*"
# given = "clone_function"
#
# [[match]]
# check = "made"
# exception = "TypeError"
# frame = "*engine/functional.py:reconstruct_from_config"
# given = "clone_function"
# ///

import tf_keras as keras
from tf_keras import layers


def clone_function(layer):
    if type(layer) is layers.ReLU:
        inputs = keras.Input(layer.input.shape[1:], name=f"{layer.name}_input")
        outputs = layer.__class__.from_config(layer.get_config())(inputs)
        return keras.Model(inputs, outputs, name=layer.name)
    return layer.__class__.from_config(layer.get_config())


inputs = keras.Input(shape=(1,))
re_lu_layer = layers.ReLU()
re_lu = re_lu_layer(inputs)
model = keras.Model(inputs, re_lu)

clone = keras.models.clone_model(model, clone_function=clone_function)
