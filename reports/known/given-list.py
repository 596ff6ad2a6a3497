"""`clone_model` requires `input_tensors` structured like `model.input`, so a documented one-element list raises.

For a model with one input, this structure is a single tensor, but the argument is documented as an "optional list of
input tensors or `InputLayer` objects". An `InputLayer` is rejected, too.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L390
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L381
"""

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1)(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model, input_tensors=[keras.Input(shape=(1,))])

# /// clonediff
# generation = "keras"
# root = "arguments"
# verdict = "accept"
# severity = "crash"
# raises = "ValueError"
# link = "https://github.com/keras-team/keras/pull/18732"
#
# [[match]]
# check = "made"
# found = "*must have the same structure as model.input*"
# exception = "ValueError"
# frame = "keras/src/models/cloning.py:_clone_functional_model"
# given = "input_tensors"
#
# [[match]]
# check = "made"
# found = "*<InputLayer*"
# exception = "ValueError"
# frame = "keras/src/models/cloning.py:_clone_*_model"
# given = "input_tensors"
# ///
