"""The cell of a ConvLSTM that was frozen once it was made is not frozen in the clone.

keras/src/layers/rnn/conv_lstm.py:503 makes the cell without the layer's trainable, which for an LSTM
keras/src/layers/rnn/lstm.py:494 hands on.
"""

# /// clonediff
# generation = "keras"
# severity = "trains"
# fingerprint = "structure-trainable-in-convlstm1d-e6e47901"
# trial.inputs = [{ shape = [4, 4, 2] }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "ConvLSTMCell"
# inside = "ConvLSTM?D"
# found = "true"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4, 4, 2))
conv_lstm1d_layer = layers.ConvLSTM1D(2, kernel_size=2)
conv_lstm1d_layer.trainable = False
conv_lstm1d = conv_lstm1d_layer(inputs)
model = keras.Model(inputs, conv_lstm1d)

clone = keras.models.clone_model(model)
expected, found = [
    next(
        each
        for each in it.get_layer("conv_lstm1d")._flatten_layers(include_self=False)
        if each.name == "conv_lstm_cell"
    ).trainable
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
