"""`initializers.deserialize` resolves `tf.ones` to the class `Ones`, so cloning raises.

Deserialization passes the name of a function, as a config, to a class of that name.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/saving/serialization_lib.py#L727
"""

import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1, bias_initializer=tf.ones)(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "tf_keras"
# root = "file-format"
# verdict = "minor"
# severity = "crash"
# loading = true
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-0a30c624"
# trial.inputs = [{ shape = [1] }]
#
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
