"""`Dense`: a Python lambda as activation or initializer raises when the layer is cloned.

Serialization writes `__lambda__`, which the layer reads in the legacy format as the name of a class. The error advises a
`custom_object_scope`, which cannot help.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/models/cloning.py#L52
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/saving/legacy/serialization.py#L366
"""

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1, activation=lambda x: x * 2.0)(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "tf_keras"
# root = "file-format"
# verdict = "accept"
# severity = "crashes"
# loading = true
# raises = "TypeError"
#
# [[match]]
# check = "made"
# found = "*Improper config format for {'value'*"
# exception = "*Error"
# frame = "*/saving/legacy/serialization.py:class_and_config_for_serialized_keras_object"
# ///
