"""`activations.serialize` drops the `class_name` of a lambda, so cloning a layer with a lambda raises.

It keeps only the code of the lambda, so `activations.deserialize` gets a plain dictionary, which `activations.get`
rejects. Enabling unsafe deserialization does not help. Objects in the closure of the lambda are put into the config
unserialized.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/activations/__init__.py#L102
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/activations/__init__.py#L121
"""

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1, activation=lambda x: x * 2.0)(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "file-format"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-24b6cbae"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# found = "*Could not interpret activation function identifier: {'value'*"
# exception = "*Error"
# frame = "keras/src/activations/__init__.py:get"
#
# [[match]]
# check = "made"
# kind = ""
# found = "*deserialization of a Python lambda*"
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:deserialize_keras_object"
#
# [[match]]
# check = "made"
# found = [
#     "*Could not parse config: <* name=*", "*Could not parse config: <Variable *",
#     "*Could not parse config: <tf.Variable *",
# ]
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:deserialize_keras_object"
# ///
