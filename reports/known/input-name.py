"""An unnamed input layer changes its name in the clone.

keras/src/models/cloning.py:399 names the new Input after the tensor, not after the input layer.
"""

# /// clonediff
# generation = "keras"
# severity = "name"
# since = "3.3.3"
# fingerprint = "structure-name-inputlayer-0771a4a4"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "*name"
# kind = "InputLayer"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
re_lu = layers.ReLU()(inputs)
model = keras.Model(inputs, re_lu)

clone = keras.models.clone_model(model)
expected, found = [[each._keras_history.operation.name for each in it.inputs] for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
