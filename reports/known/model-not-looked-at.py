"""What is no model at all is cloned without a word: None, or a list of models.

keras/src/models/cloning.py:206 serializes whatever it is given that is neither Sequential nor Functional, and reads
that back, where the argument is documented as an "Instance of `Model`".
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
    keras.models.clone_model(None)
except Exception as error:
    message = f"{type(error).__name__}: {error}"
else:
    message = "no error"
assert "model" in message.lower().partition(":")[2], f"no error says that None is no model: {message}"
