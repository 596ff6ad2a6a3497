"""What a clone_function gives is not looked at.

tf_keras/src/models/cloning.py:295 takes what it gives for a layer, which tf_keras/src/engine/functional.py:1465
calls.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# ///

import tf_keras as keras
from tf_keras import layers

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
