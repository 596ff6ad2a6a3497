"""`Dense(activation=lambda ...)`: the config loses the marker of a lambda, so cloning raises.

`activations.serialize` keeps only the code of the lambda and drops the class name `__lambda__`, so
`activations.deserialize` reads a plain dictionary, and `activations.get` rejects it. Enabling unsafe deserialization
does not help. What the lambda closes over is put into the config as it is.
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
# severity = "crashes"
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
