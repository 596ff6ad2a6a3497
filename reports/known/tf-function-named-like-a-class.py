"""A layer cannot be cloned whose initializer, regularizer or constraint is a function with the name of one of
Keras' classes, such as tf.ones.

tf_keras/src/saving/serialization_lib.py:727 hands the name of the function, as a config, to the class of that name.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-c88fb119"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = "*must be a mapping, not str*"
# exception = "TypeError"
# frame = ["tf_keras/src/*izers.py:from_config", "tf_keras/src/constraints.py:from_config"]
#
# [[match]]
# check = "made"
# found = "*'str' object*pop*"
# exception = "TypeError"
# frame = "tf_keras/src/initializers/initializers.py:from_config"
#
# [[match]]
# check = "made"
# found = "*'str' object*pop*"
# exception = "AttributeError"
# frame = "tf_keras/src/initializers/initializers.py:from_config"
# ///

import tensorflow as tf
import tf_keras as keras
from tf_keras import layers


def l1(x):
    return tf.reduce_mean(tf.abs(x)) * 2.0


inputs = keras.Input(shape=(1,))
dense = layers.Dense(1, kernel_regularizer=l1)(inputs)
model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
