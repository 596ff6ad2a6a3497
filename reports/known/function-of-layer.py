"""A layer whose initializer is an array, or whose initializer, regularizer or constraint is not registered,
cannot be cloned.

keras/src/models/cloning.py:219 makes the layer from its config, which has a function by its name
(keras/src/saving/serialization_lib.py:403), an array as the function that keras/src/initializers/__init__.py:141
makes of it; keras/src/initializers/__init__.py:75, as keras/src/regularizers/__init__.py:34 and
keras/src/constraints/__init__.py:34, finds no more than Keras' own and what is registered.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-8994f025"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = "*Could not interpret *izer identifier: {*"
# exception = "*Error"
# frame = "keras/src/*izers/__init__.py:get"
#
# [[match]]
# check = "made"
# found = "*Could not interpret constraint identifier: {*"
# exception = "*Error"
# frame = "keras/src/constraints/__init__.py:get"
#
# [[match]]
# check = "made"
# kind = ""
# found = "*Cannot deserialize object of type*"
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:deserialize_keras_object"
# ///

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(1,))
dense = layers.Dense(4, bias_initializer=np.arange(1, 5) / 2)(inputs)
model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
