"""`clone_model` with a `clone_function` that returns a model raises `TypeError` or hangs.

Calls of a model are counted from 1, but calls of the layer that it replaces from 0. `clone_model` waits for the missing
call forever or, if the layer is the last one, does not find it.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/functional.py#L1497
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/functional.py#L1590
"""

import tf_keras as keras
from tf_keras import layers


def clone_function(layer):
    if not isinstance(layer, layers.ReLU):
        return layer.__class__.from_config(layer.get_config())
    inputs = keras.Input(layer.input.shape[1:])
    return keras.Model(inputs, layers.ReLU()(inputs), name=layer.name)


inputs = keras.Input(shape=(1,))
outputs = layers.ReLU()(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model, clone_function=clone_function)

# /// clonediff
# generation = "tf_keras"
# root = "order"
# verdict = "accept"
# severity = "crash"
# raises = "TypeError"
# link = "https://github.com/tensorflow/tensorflow/issues/61492"
#
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
