"""`LSTM.get_config` and `GRU.get_config` omit `use_cudnn`, so `False` is reset to "auto".

https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/rnn/lstm.py#L651
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/rnn/gru.py#L669
"""

import keras
from keras import layers

inputs = keras.Input(shape=(3, 4))
outputs = layers.LSTM(3, use_cudnn=False, name="lstm")(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("lstm").use_cudnn for it in (model, clone)]
assert found == expected, f"`use_cudnn` is {found!r} in the clone, {expected!r} in the model"

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "lost-property"
# loading = true
# fingerprint = "structure-attribute-use-cudnn-5e333185"
# trial.inputs = [{ shape = [3, 4] }]
#
# [[match]]
# check = "structure"
# aspect = "attribute.use_cudnn"
# kind = ["LSTM", "GRU"]
# ///
