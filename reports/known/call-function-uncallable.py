"""A call_function that is no function is called all the same.

keras/src/models/cloning.py asks of no call_function whether it can be called, before keras/src/ops/function.py:205
does.
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
    keras.models.clone_model(model, call_function=3)
except Exception as error:
    message = f"{type(error).__name__}: {error}"
else:
    message = "no error"
assert "call_function" in message, f"the error does not name call_function: {message}"
