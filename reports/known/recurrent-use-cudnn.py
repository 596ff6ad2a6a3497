"""An LSTM or a GRU that must not use cuDNN may use it in the clone.

keras/src/layers/rnn/lstm.py:651 and gru.py:669 write a config without use_cudnn, so that the clone has "auto".
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-use-cudnn-5e333185"
# trial.inputs = [{ shape = [3, 4] }]
# [[match]]
# check = "structure"
# aspect = "attribute.use_cudnn"
# kind = ["LSTM", "GRU"]
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(3, 4))
lstm = layers.LSTM(3, use_cudnn=False)(inputs)
model = keras.Model(inputs, lstm)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("lstm").use_cudnn for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
