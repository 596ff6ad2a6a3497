"""A model in which an operation was called with a function cannot be cloned inside another model.

keras/src/models/functional.py:807 reads the arguments of a call back from a config, which holds no Python lambda
(keras/src/saving/serialization_lib.py:681), and of other functions a name only.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "ValueError"
# since = "3.3.3"
# fingerprint = "made-raises-valueerror-4aaa6703"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# found = "*Python lambda*"
# exception = "ValueError"
# frame = "keras/src/saving/serialization_lib.py:deserialize_keras_object"
# ///

import keras
from keras import ops

inputs = keras.Input(shape=(4,))
inner_inputs = keras.Input(shape=(4,))
map_output = ops.map(lambda x: x * 2.0, inner_inputs)
inner_model = keras.Model(inner_inputs, map_output)
model_2 = inner_model(inputs)
model = keras.Model(inputs, model_2)

clone = keras.models.clone_model(model)
