"""`regularizers.deserialize` returns an unknown name as a string, so training the clone raises.

A name that is not found outside its `custom_object_scope` should raise at once, as in `activations.deserialize`.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/saving/serialization_lib.py#L580
"""

import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers


def average(x):
    return tf.reduce_mean(tf.abs(x))


with keras.utils.custom_object_scope({"average": average}):
    inputs = keras.Input(shape=(1,))
    outputs = layers.Dense(1, kernel_regularizer="average")(inputs)
    model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
model.losses
clone.losses

# /// clonediff
# generation = "tf_keras"
# root = "file-format"
# verdict = "minor"
# severity = "crash"
# loading = true
# raises = "TypeError"
# link = "https://www.tensorflow.org/guide/keras/save_and_serialize"
# fingerprint = "structure-config-kernel-regularizer-dense-018339e4"
# trial.inputs = [{ shape = [1] }]
#
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
