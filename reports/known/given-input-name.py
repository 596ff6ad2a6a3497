"""A Sequential gives the input that it is given another name.

keras/src/models/cloning.py:317 makes an InputLayer of the original's name for the tensor.
"""

# /// clonediff
# generation = "keras"
# severity = "name"
# [[match]]
# check = "structure"
# aspect = "name"
# kind = "InputLayer"
# given = "input_tensors"
# ///

import keras
from keras import layers

model = keras.Sequential([layers.InputLayer(shape=(1,), name="x"), layers.Activation("relu")])

keras.utils.clear_session()

clone = keras.models.clone_model(model, input_tensors=keras.Input(shape=(1,), name="given_1"))

# The model that is asked for, made by hand.
keras.utils.clear_session()
model = keras.Sequential([keras.Input(shape=(1,), name="given_1"), layers.Activation("relu")])
expected, found = [[each._keras_history.operation.name for each in it.inputs] for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
