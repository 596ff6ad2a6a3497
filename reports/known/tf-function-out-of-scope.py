"""A layer with a function of one's own, or in a model one of a class of one's own, that is registered nowhere
cannot be cloned.

tf_keras/src/models/cloning.py:52 makes the layer from its config, which has the name of the function only
(tf_keras/src/saving/serialization_lib.py:580), as that of a model has the name of a class (:588).
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "TypeError"
# link = "https://www.tensorflow.org/guide/keras/save_and_serialize"
# documented = true
# [[match]]
# check = "made"
# found = "*Cannot deserialize object of type*"
# exception = "TypeError"
# frame = "*keras/src/saving/serialization_lib.py:deserialize_keras_object"
# ///

import tf_keras as keras
from tf_keras import layers


def double(x):
    return x * 2.0


with keras.utils.custom_object_scope({"double": double}):
    inputs = keras.Input(shape=(1,))
    dense_layer = layers.Dense(1, activation="double")
    dense = dense_layer(inputs)
    model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
