"""A layer inside another has the width of the original's input, not of the one that is given.

keras/src/saving/serialization_lib.py:787 builds an inner layer as soon as it is read from the config, for the shape
that the original was built on; on wider input_tensors the clone is made without a word, and fails when it is run; a
Pipeline, whose layers were built as well, is not made, nor is a user's wrapper that Keras has to call to know what
it gives.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# [[match]]
# check = "weights"
# aspect = "weight shape"
# given = "input_tensors"
#
# [[match]]
# check = "made"
# kind = "Pipeline"
# exception = "ValueError"
# frame = "keras/src/layers/input_spec.py:assert_input_compatibility"
# given = "input_tensors"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(3, 4))
rnn = layers.RNN(layers.GRUCell(2))(inputs)
model = keras.Model(inputs, rnn)

clone = keras.models.clone_model(model, input_tensors=keras.Input(shape=(3, 5)))
assert clone.weights[0].shape == (5, 6), f"the kernel is {clone.weights[0].shape} for inputs of width 5"
