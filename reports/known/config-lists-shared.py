"""A list in a config is one object in the original and in its clone.

keras/src/ops/operation.py:263 puts the arguments of an operation into its config as they are, and
keras/src/models/cloning.py:219 makes the clone of them, where a layer would wrap each list anew that it is given
(keras/src/utils/tracking.py:96). An array that a config has is likewise one object, such as the window of
STFTSpectrogram (keras/src/layers/preprocessing/stft_spectrogram.py:375).
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "own-object-shared-89695d8c"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "own"
# aspect = "object shared"
# path = "layers*.attribute.*"
# found = ["the original's list*", "the original's ndarray*"]
#
# [[match]]
# check = "own"
# aspect = "object reached.config"
# found = "the original's list, *"
# ///

import keras
from keras import ops

inputs = keras.Input(shape=(1,))
nanpercentile = ops.nanpercentile(inputs, 50, axis=[1])
model = keras.Model(inputs, nanpercentile)

clone = keras.models.clone_model(model)

assert (
    next(each for each in (lambda it: getattr(it, "operations", it.layers))(clone) if each.name == "nanpercentile").axis
    is not next(
        each for each in (lambda it: getattr(it, "operations", it.layers))(model) if each.name == "nanpercentile"
    ).axis
), "the clone has an object of the model"
