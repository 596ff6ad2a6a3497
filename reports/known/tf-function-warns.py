"""`regularizers.serialize` warns about registered functions although layers accept them.

`initializers.serialize` and `constraints.serialize` do the same, each time a model is cloned.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/regularizers.py#L426
"""

import warnings

import tensorflow as tf
import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
def magnitude(x):
    return tf.reduce_mean(tf.abs(x))


inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1, kernel_regularizer=magnitude)(inputs)
model = keras.Model(inputs, outputs)

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    clone = keras.models.clone_model(model)
messages = [str(warning.message) for warning in caught if "regularizers.serialize" in str(warning.message)]
assert not messages, f"cloning warns: {messages}"

# /// clonediff
# generation = "tf_keras"
# root = "file-format"
# verdict = "minor"
# severity = "lost-property"
# loading = true
# fingerprint = "warned-raises-userwarning-d2930059"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "warned"
# aspect = "raises"
# found = "*API should only be used for objects of type*"
# exception = "UserWarning"
# frame = [
#     "tf_keras/src/regularizers.py:serialize", "tf_keras/src/constraints.py:serialize",
#     "tf_keras/src/initializers/__init__.py:serialize",
# ]
# ///
