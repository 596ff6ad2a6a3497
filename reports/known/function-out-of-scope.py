"""A layer with a function of one's own, or in a model a layer of a class of one's own, cannot be cloned out of
the scope in which it was found.

keras/src/models/cloning.py:219 makes the layer from its config, which has the name of the function only
(keras/src/saving/serialization_lib.py:590), as that of a model has the name of a class (:899).
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# link = "https://keras.io/guides/serialization_and_saving/"
# documented = true
# ///

import keras
from keras import layers
from keras import ops


def halves(shape, dtype=None):
    return ops.ones(shape, dtype=dtype) / 2


with keras.utils.custom_object_scope({"halves": halves}):
    inputs = keras.Input(shape=(1,))
    dense_layer = layers.Dense(1, kernel_initializer="halves")
    dense = dense_layer(inputs)
    model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
