"""A clone_function that is no function is called all the same.

keras/src/models/cloning.py:285 and :368 ask whether a clone_function can be called, which is by then the wrapper
that :143 and :166 make of it, and always can.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
re_lu = layers.ReLU()(inputs)
model = keras.Model(inputs, re_lu)

try:
    keras.models.clone_model(model, clone_function=3)
except Exception as error:
    message = f"{type(error).__name__}: {error}"
else:
    message = "no error"
assert "clone_function" in message, f"the error does not name clone_function: {message}"
