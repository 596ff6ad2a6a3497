"""`clone_model(sequential, input_tensors=[x])` overwrites the history of `x`, disconnecting it from its inputs.

`clone_model` wraps the tensor in a new `InputLayer`, and a node of that layer becomes the history of the tensor. Any
model created from the tensor afterwards raises "not connected".
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L317
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/core/input_layer.py#L119
"""

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(1,))
x = layers.Dense(1)(inputs)
model = keras.Sequential([keras.Input(shape=(1,)), layers.Activation("relu")])

clone = keras.models.clone_model(model, input_tensors=[x])
try:
    keras.Model(inputs, x)(np.ones((1, 1)))
    error = None
except (KeyError, ValueError) as raised:
    error = raised
assert error is None, f"a model of `inputs` and `x` raises {type(error).__name__}: {error}"

# /// clonediff
# generation = "keras"
# root = "rebuilt"
# verdict = "accept"
# severity = "crash"
# since = "3.7.0"
#
# [[match]]
# check = "untouched"
# aspect = ["input tensor", "call.*"]
# given = "input_tensors"
# ///
