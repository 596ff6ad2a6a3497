"""`Bidirectional.get_config` returns the construction-time config of `backward_layer`, so a frozen layer trains.

https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/layers/rnn/bidirectional.py#L153
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/layers/rnn/bidirectional.py#L509
"""

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(3, 4))
bidirectional = layers.Bidirectional(layers.LSTM(2), backward_layer=layers.LSTM(2, go_backwards=True))
model = keras.Model(inputs, bidirectional(inputs))
bidirectional.backward_layer.trainable = False

clone = keras.models.clone_model(model)
expected, found = len(model.trainable_weights), len(clone.trainable_weights)
assert found == expected, f"{found} trainable weights in the clone, {expected} in the model"

# /// clonediff
# generation = "tf_keras"
# root = "class-config"
# verdict = "accept"
# severity = "wrong-training"
# loading = true
#
# [[match]]
# check = "structure"
# aspect = "config.*"
# inside = "Bidirectional"
# path = "layers?'*/backward*"
# ///
