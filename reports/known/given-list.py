"""A list of one tensor is refused as input_tensors of a model with one input.

keras/src/models/cloning.py:390 wants the structure of model.input, a tensor alone, where the argument is documented
as an "optional list of input tensors".
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "ValueError"
# link = "https://github.com/keras-team/keras/pull/18732"
# [[match]]
# check = "made"
# found = "*must have the same structure as model.input*"
# exception = "ValueError"
# frame = "keras/src/models/cloning.py:_clone_functional_model"
# given = "input_tensors"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)

clone = keras.models.clone_model(model, input_tensors=[keras.Input(shape=(1,))])
