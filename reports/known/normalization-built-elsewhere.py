"""A Normalization that was built by a call outside the model cannot be cloned.

keras/src/models/cloning.py:219 makes the layer anew, so that a call of the model builds it, on a tensor to which
keras/src/layers/preprocessing/normalization.py:244 cannot broadcast its mean.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "InvalidArgumentError"
# fingerprint = "made-raises-in-a-call-invalidargumenterror-700f2b5f"
# trial.inputs = [{ shape = [1] }, { shape = [4] }]
# [[match]]
# check = "made"
# found = "*Unable to broadcast tensor of shape*"
# exception = "InvalidArgumentError"
# frame = "keras/src/ops/numpy.py:broadcast_to"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
inputs_2 = keras.Input(shape=(4,))
normalization_layer = layers.Normalization(mean=[1.0, 2.0, 3.0, 4.0], variance=[1.0, 2.0, 3.0, 4.0])
normalization_layer(inputs_2)
normalization = normalization_layer(inputs)
model = keras.Model([inputs, inputs_2], normalization)

clone = keras.models.clone_model(model)
