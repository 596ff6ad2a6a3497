"""`Dense(kernel_initializer=lambda ...)`: the lambda is not deserialized, so cloning raises.

The config marks it as `__lambda__`, which the legacy format takes for the name of a class. The error advises a
`custom_object_scope`, which cannot help. A regularizer or a constraint raises in the same way, and so does an
activation, whose config loses even the mark.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/models/cloning.py#L52
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/saving/legacy/serialization.py#L366
"""

import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1, kernel_initializer=lambda shape, dtype: tf.ones(shape, dtype))(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "tf_keras"
# root = "file-format"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-18317264"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# found = ["*Unknown *izer: '__lambda__'*", "*Unknown constraint: '__lambda__'*"]
# exception = "*Error"
# frame = "*/saving/legacy/serialization.py:class_and_config_for_serialized_keras_object"
#
# [[match]]
# check = "made"
# found = "*Improper config format for {'value'*"
# exception = "*Error"
# frame = "*/saving/legacy/serialization.py:class_and_config_for_serialized_keras_object"
# ///
