"""A model that takes an input twice cannot be cloned.

keras/src/models/cloning.py:398 makes a new Input for each place in model.input, so two of one name, which
keras/src/ops/function.py:384 refuses.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "ValueError"
# since = "3.3.3"
# fingerprint = "made-raises-valueerror-2cee63ea"
# trial.inputs = [{ shape = [1] }, { shape = [1] }]
# [[match]]
# check = "made"
# found = [
#     "*The name \"keras_tensor*is used 2 times*", "*The name \"features*is used 2 times*",
#     "*The name \"start_*is used 2 times*",
# ]
# exception = "ValueError"
# frame = "keras/src/ops/function.py:map_graph"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model([inputs, inputs], activation)

clone = keras.models.clone_model(model)
