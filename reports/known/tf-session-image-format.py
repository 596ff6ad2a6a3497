"""A recurrent layer cannot be cloned in a session that has another format of images than it was called in.

tf_keras/src/models/cloning.py:230 calls each layer anew, and tf_keras/src/backend.py:6889 adds its bias in the format
of the session, though there is no image. Of a cell that is called on steps, the output gets another shape.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "ValueError"
# fingerprint = "made-raises-in-a-call-valueerror-489a0ca1"
# trial.inputs = [{ shape = [1, 1] }]
# [[match]]
# check = "made"
# exception = "ValueError"
# frame = "tf_keras/src/backend.py:bias_add"
#
# [[match]]
# check = "structure"
# aspect = "output shape"
# kind = ["SimpleRNNCell", "GRUCell"]
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1, 1))
lstm = layers.LSTM(3)(inputs)
model = keras.Model(inputs, lstm)
keras.backend.set_image_data_format("channels_first")

clone = keras.models.clone_model(model)
