"""A frozen Sequential inside a model is not frozen in the clone.

tf_keras/src/engine/sequential.py:475 makes the model from its name only and leaves the trainable flag of the config
out; its layers keep their own flags, so that training differs only where one of them was thawed by itself.
"""

# /// clonediff
# generation = "tf_keras"
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

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(4,))
inner_model = keras.Sequential([keras.Input(shape=(4,)), layers.Dense(4)])
inner_model.trainable = False
sequential = inner_model(inputs)
model = keras.Model(inputs, sequential)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("sequential").trainable for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
