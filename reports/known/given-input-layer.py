"""InputLayer objects are refused as input_tensors, though documented.

keras/src/models/cloning.py:381, and :312 for a Sequential, take KerasTensors only, where the argument is documented
as "input tensors or InputLayer objects".
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "ValueError"
# [[match]]
# check = "made"
# found = "*<InputLayer*"
# exception = "ValueError"
# frame = "keras/src/models/cloning.py:_clone_*_model"
# given = "input_tensors"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)

clone = keras.models.clone_model(model, input_tensors=layers.InputLayer(shape=(1,)))
