"""`ConvLSTM1D` does not pass `trainable` to its cell, so frozen weights train in the clone.

`LSTM` does. `ConvLSTM2D` and `ConvLSTM3D` have the same constructor.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/rnn/conv_lstm.py#L503
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/rnn/lstm.py#L494
"""

import keras
from keras import layers

inputs = keras.Input(shape=(4, 4, 2))
conv_lstm = layers.ConvLSTM1D(2, kernel_size=2)
conv_lstm.trainable = False
model = keras.Model(inputs, conv_lstm(inputs))

clone = keras.models.clone_model(model)
expected, found = len(model.trainable_weights), len(clone.trainable_weights)
assert found == expected, f"{found} trainable weights in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "settings"
# verdict = "accept"
# severity = "wrong-training"
# loading = true
# fingerprint = "structure-trainable-in-convlstm1d-e6e47901"
# trial.inputs = [{ shape = [4, 4, 2] }]
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "ConvLSTMCell"
# inside = "ConvLSTM?D"
# found = "true"
#
# [[match]]
# check = ["outputs", "training"]
# found = "*OrthogonalRegularizer must have rank 2*" # of a bias that trains in the clone
# exception = "ValueError"
#
# [[match]]
# check = "structure"
# aspect = "attribute.losses"
# kind = ["ConvLSTM?D", "ConvLSTMCell"]
# found = "raises ValueError"
# ///
