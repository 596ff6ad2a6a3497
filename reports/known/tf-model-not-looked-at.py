"""What is no model at all is asked for its config: None, or a list of models.

tf_keras/src/models/cloning.py:555 asks whatever it is given that is neither Sequential nor functional for its
config, and its class for from_config, which None and a list do not have.
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
    keras.models.clone_model(None)
except Exception as error:
    message = f"{type(error).__name__}: {error}"
else:
    message = "no error"
assert "model" in message.lower().partition(":")[2], f"no error says that None is no model: {message}"
