"""A model that is compiled with the class of a loss or of a metric cannot be cloned.

keras/src/losses/__init__.py:204 makes an object of a class, and the model keeps the class:
keras/src/saving/serialization_lib.py:406 calls the get_config of the class without an object.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-f6e8b37e"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# found = "*get_config() missing 1 required*"
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:_get_class_or_fn_config"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4)(inputs))
model.compile(loss=keras.losses.MeanSquaredError)

clone = keras.models.clone_model(model)
