"""What a clone_function gives is not looked at.

keras/src/models/cloning.py:250 takes what it gives for a layer, which keras/src/ops/function.py:210 calls.
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
    keras.models.clone_model(model, clone_function=lambda layer: None)
except Exception as error:
    message = f"{type(error).__name__}: {error}"
else:
    message = "no error"
assert "clone_function" in message, f"the error does not name clone_function: {message}"
