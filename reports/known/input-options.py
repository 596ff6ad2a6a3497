"""An optional, sparse or ragged input is none of these in the clone.

keras/src/models/cloning.py:399 makes the new Input from shape, dtype and name only, and passes neither optional nor
sparse nor ragged.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-config-sparse-inputlayer-2e13b313"
# trial.inputs = [{ shape = [4], optional = true }]
# [[match]]
# check = "structure"
# aspect = [
#     "config.optional", "attribute.optional", "input optional", "output optional", "config.sparse",
#     "config.ragged",
# ]
# kind = "InputLayer"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4,), optional=True)
re_lu = layers.ReLU()(inputs)
model = keras.Model(inputs, re_lu)

clone = keras.models.clone_model(model)
expected, found = [[each._keras_history[0].get_config().get("optional") for each in it.inputs] for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
