"""`clone_model` wraps `clone_function` before checking that it is callable, so the check never fails.

The check sees the wrapper, which is always callable: the error is a bare `TypeError`. `call_function` is not checked at
all, nor is what `clone_function` returns; `clone_model(None)` returns None.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L166
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L368
"""

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.ReLU()(inputs)
model = keras.Model(inputs, outputs)

try:
    keras.models.clone_model(model, clone_function=3)
except Exception as error:
    message = f"{type(error).__name__}: {error}"
else:
    message = "no error"
assert "clone_function" in message, f"the error does not name clone_function: {message}"

# /// clonediff
# generation = "keras"
# root = "arguments"
# verdict = "accept"
# severity = "lost-property"
# ///
