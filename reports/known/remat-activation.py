"""A recurrent layer that is cloned in a RematScope of the mode activations cannot be called.

keras/src/layers/layer.py:1790 sets the activation of a layer that was made in such a scope while it is called, and
that of a recurrent layer is a property without a setter (keras/src/layers/rnn/lstm.py:592, gru.py:610,
simple_rnn.py:362, conv_lstm.py:598).
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "AttributeError"
# since = "3.9.0"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(3, 4))
lstm = layers.LSTM(2)(inputs)
model = keras.Model(inputs, lstm)

with keras.RematScope(mode="activations"):
    clone = keras.models.clone_model(model)
import numpy as np

rng = np.random.default_rng(2599413692)
x = rng.standard_normal((2, 3, 4)).astype("float32")
values = [x]
for one, other in zip(model.variables, clone.variables):
    other.assign(one)


def run(model):
    return model(values[0], training=False)


run(model)
run(clone)
