"""`clone_model`: too many `input_tensors` raise `IndexError: list index out of range`.

Only a `Sequential` checks how many there are. If there are too few, there is no error, and the other inputs are cloned.
A `clone_function` must be callable, but what it returns is not checked: None fails with "'NoneType' object is not
callable".
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/models/cloning.py#L189
"""

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.ReLU()(inputs)
model = keras.Model(inputs, outputs)

try:
    keras.models.clone_model(model, input_tensors=[keras.Input(shape=(1,)), keras.Input(shape=(1,))])
except Exception as error:
    message = f"{type(error).__name__}: {error}"
else:
    message = "no error"
assert "input_tensors" in message, f"the error does not name input_tensors: {message}"

# /// clonediff
# generation = "tf_keras"
# root = "arguments"
# verdict = "minor"
# severity = "lost-property"
# ///
