"""The name of a function of one's own is the regularizer in the clone, which cannot be called.

tf_keras/src/saving/serialization_lib.py:580 takes the name of a function that it does not find for what was to be
read.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# link = "https://www.tensorflow.org/guide/keras/save_and_serialize"
# documented = true
# fingerprint = "structure-config-kernel-regularizer-dense-018339e4"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "config.*_regularizer"
# found = "'*'"
#
# [[match]]
# check = "structure"
# aspect = "attribute.losses"
# found = "raises TypeError"
#
# [[match]]
# check = "made"
# found = "*'str' object is not callable*"
# exception = "TypeError"
# frame = "tf_keras/src/engine/base_layer.py:_handle_activity_regularization"
# ///

import tensorflow as tf
import tf_keras as keras
from tf_keras import layers


def average(x):
    return tf.reduce_mean(tf.abs(x))


with keras.utils.custom_object_scope({"average": average}):
    inputs = keras.Input(shape=(1,))
    dense_layer = layers.Dense(1, kernel_regularizer="average")
    dense = dense_layer(inputs)
    model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("dense").get_config().get("kernel_regularizer") for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
