"""`clone_model` does not compile the clone of a compiled model.

https://github.com/keras-team/keras/blob/v3.5.0/keras/src/models/cloning.py#L398
"""

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1)(inputs)
model = keras.Model(inputs, outputs)
model.compile(loss="mse")

clone = keras.models.clone_model(model)
expected, found = model.compiled, clone.compiled
assert found == expected, f"`compiled` is {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "rebuilt"
# verdict = "accept"
# severity = "wrong-training"
# until = "3.9.0"
# link = "https://github.com/keras-team/keras/issues/20884"
# fingerprint = "structure-compiled-functional-62a36e74"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "structure"
# aspect = "compiled"
# ///
