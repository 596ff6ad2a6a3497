"""The operations behind a mask in a Sequential have other names in the clone.

keras/src/models/sequential.py:235 makes the graph of a Sequential anew from its layers, and an operation without a
name takes the next that is free (keras/src/ops/operation.py:24).
"""

# /// clonediff
# generation = "keras"
# severity = "name"
# until = "3.16.0"
# fingerprint = "structure-name-87491fc9"
# trial.inputs = [{ shape = [1, 1] }]
# [[match]]
# check = ["structure", "again"]
# aspect = "name"
# kind = ["NotEqual", "Any", "Cast"]
# inside = ["Sequential", ""]
#
# [[match]]
# check = "structure"
# aspect = "name"
# kind = "LogicalNot"
# inside = ["Sequential", ""]
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1, 1))
inner_model = keras.Sequential([keras.Input(shape=(1, 1)), layers.Masking(), layers.SimpleRNN(1)])
sequential = inner_model(inputs)
model = keras.Model(inputs, sequential)

clone = keras.models.clone_model(model)
expected, found = ([operation.name for operation in it.layers[1]._functional.operations] for it in (model, clone))
assert found[1:] == expected[1:], f"{found} in the clone, {expected} in the model"
