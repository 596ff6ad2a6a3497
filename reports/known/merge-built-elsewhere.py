"""A merging layer whose first call is another in the clone aligns its inputs in another way there.

keras/src/layers/merging/base_merge.py:139 decides in build whether inputs are aligned from the batch on, and a
layer is built by its first call; that of the clone is one on other ranks, where clone_model
(keras/src/models/cloning.py:219) makes the layer anew and repeats the calls of the model alone, by their depth; a
Concatenate refuses to be built for the shapes of such a call.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# fingerprint = "outputs-value-add-1ec7eb10"
# trial.inputs = [{ shape = [1] }, { shape = [2, 4] }]
# [[match]]
# check = "outputs"
# aspect = "value"
# path = "inference.steps*"
# kind = ["Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"]
# given = [
#     "Add called more than once", "Average called more than once", "Maximum called more than once",
#     "Minimum called more than once", "Multiply called more than once", "Subtract called more than once",
# ]
#
# [[match]]
# check = "made"
# kind = "Concatenate"
# exception = "ValueError"
# frame = "keras/src/layers/merging/concatenate.py:build"
# given = "Concatenate called more than once"
# ///

import keras
from keras import layers

input_1 = keras.Input(shape=(1,))
input_2 = keras.Input(shape=(2, 4))
add_layer = layers.Add()
add = add_layer([input_1, input_1])
add_2 = add_layer([input_1, input_2])
model = keras.Model([input_1, input_2], add_2)

clone = keras.models.clone_model(model)
columns = keras.ops.reshape(keras.ops.arange(2.0), (2, 1))
zeros = keras.ops.zeros((2, 2, 4))
expected, found = (keras.ops.convert_to_numpy(it([columns, zeros])).tolist() for it in (model, clone))
assert found == expected, f"{found} from the clone, {expected} from the model"
