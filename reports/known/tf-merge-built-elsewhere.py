"""A merging layer whose first call is another in the clone aligns its inputs in another way there.

tf_keras/src/layers/merging/base_merge.py:116 decides in build whether inputs are aligned from the batch on, and a
layer is built by its first call; that of the clone is one on other ranks, where clone_model
(tf_keras/src/models/cloning.py:52) makes the layer anew and repeats the calls of the model alone, by their depth.
"""

# /// clonediff
# generation = "tf_keras"
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
# ///

import numpy as np
import tf_keras as keras
from tf_keras import layers

input_1 = keras.Input(shape=(1,))
input_2 = keras.Input(shape=(2, 4))
add_layer = layers.Add()
add = add_layer([input_1, input_1])
add_2 = add_layer([input_1, input_2])
model = keras.Model([input_1, input_2], add_2)

clone = keras.models.clone_model(model)
columns, zeros = np.arange(2.0).reshape(2, 1), np.zeros((2, 2, 4))
expected, found = (it([columns, zeros]).numpy().tolist() for it in (model, clone))
assert found == expected, f"{found} from the clone, {expected} from the model"
