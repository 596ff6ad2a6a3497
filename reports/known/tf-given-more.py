"""One input too many is told as an index that is out of range.

tf_keras/src/models/cloning.py:189 asks for the input layer of each tensor that it is given, and never for how many
there are.
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
    keras.models.clone_model(model, input_tensors=[keras.Input(shape=(1,)), keras.Input(shape=(1,))])
except Exception as error:
    message = f"{type(error).__name__}: {error}"
else:
    message = "no error"
assert "input_tensors" in message, f"the error does not name input_tensors: {message}"
