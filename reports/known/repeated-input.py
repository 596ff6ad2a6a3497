"""`clone_model` creates one `Input` per entry of `model.input`, so a repeated input raises.

https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L398
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/ops/function.py#L384
"""

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Activation("relu")(inputs)
model = keras.Model([inputs, inputs], outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "rebuilt"
# verdict = "minor"
# severity = "crash"
# raises = "ValueError"
# fingerprint = "made-raises-valueerror-2cee63ea"
# trial.inputs = [{ shape = [1] }, { shape = [1] }]
#
# [[match]]
# check = "made"
# found = [
#     "*The name \"keras_tensor*is used 2 times*", "*The name \"features*is used 2 times*",
#     "*The name \"start_*is used 2 times*",
# ]
# exception = "ValueError"
# frame = "keras/src/ops/function.py:map_graph"
# ///
