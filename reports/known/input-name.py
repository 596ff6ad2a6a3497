"""`clone_model` names a new `Input` after the tensor, so an unnamed `InputLayer` is renamed.

https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L399
"""

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
outputs = layers.ReLU()(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
expected, found = model.layers[0].name, clone.layers[0].name
assert found == expected, f"the input layer is {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "rebuilt"
# verdict = "accept"
# severity = "renamed"
# fingerprint = "structure-name-inputlayer-0771a4a4"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "structure"
# aspect = "*name"
# kind = "InputLayer"
# ///
