"""A frozen Sequential inside a model is not frozen in the clone.

keras/src/models/sequential.py:383 makes the model from its name only and leaves the trainable flag of the config
out; its layers keep their own flags, so that training differs only where one of them was thawed by itself.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-trainable-sequential-f17db574"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# path = "layers*"
# kind = "Sequential"
# found = "true"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
inner_model = keras.Sequential([keras.Input(shape=(4,)), layers.Dense(4)])
inner_model.trainable = False
sequential = inner_model(inputs)
model = keras.Model(inputs, sequential)

clone = keras.models.clone_model(model)
expected, found = [
    next(each for each in (lambda it: getattr(it, "operations", it.layers))(it) if each.name == "sequential").trainable
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
