"""`Dense(bias_initializer=array)`: `initializers.get` wraps the array in an unserializable closure, so cloning raises.

`initializers.get` accepts an array and returns a local function, `initialize_fn`, which no config can represent.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/initializers/__init__.py#L141
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/saving/serialization_lib.py#L403
"""

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Dense(4, bias_initializer=np.array([0.0, 0.5, 1.0, 1.5]))(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "file-format"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "TypeError"
# since = "3.7.0"
# fingerprint = "made-raises-typeerror-8994f025"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# found = "*Could not interpret *izer identifier: {*initialize_fn*"
# exception = "*Error"
# frame = "keras/src/*izers/__init__.py:get"
# ///
