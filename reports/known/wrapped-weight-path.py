"""The path of a weight inside another layer or model loses, or gains, the names of what holds it.

keras/src/backend/common/variables.py:145 takes the names of what is being built around a weight, and
keras/src/saving/serialization_lib.py:787 builds an inner layer as soon as it is read from the config, outside of
the layer that holds it.
"""

# /// clonediff
# generation = "keras"
# severity = "name"
# fingerprint = "weights-weight-scope-202963d4"
# trial.inputs = [{ shape = [3, 4], fill = "steps" }]
# [[match]]
# check = "weights"
# aspect = "weight scope"
# inside = "?*"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(3, 4))
rnn = layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)])(inputs)
model = keras.Model(inputs, rnn)

clone = keras.models.clone_model(model)
expected, found = [
    [(each.path, tuple(each.shape), str(each.dtype), each.trainable) for each in it.weights] for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
