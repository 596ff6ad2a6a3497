"""A frozen model within the model is not frozen in a recursive clone.

keras/src/models/cloning.py:240 clones it as a model of its own, and :414 makes that without the trainable flag; its
layers keep their own flags, so that training differs only where one of them was thawed by itself.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-trainable-functional-d148cadb"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "Functional"
# found = "true"
# given = "recursive"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
inner_inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inner_inputs)
inner_model = keras.Model(inner_inputs, activation)
inner_model.trainable = False
model_2 = inner_model(inputs)
model = keras.Model(inputs, model_2)

keras.utils.clear_session()

clone = keras.models.clone_model(model, recursive=True)

# The model that is asked for, made by hand.
keras.utils.clear_session()
inputs = keras.Input(shape=(1,))
inner_inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inner_inputs)
inner_model = keras.Model(inner_inputs, activation)
inner_model.trainable = False
model_2 = inner_model(inputs)
model = keras.Model(inputs, model_2)
expected, found = [
    next(each for each in (lambda it: getattr(it, "operations", it.layers))(it) if each.name == "functional").trainable
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
