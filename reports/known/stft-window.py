"""An STFTSpectrogram with a window of numbers cannot be cloned inside a nested model.

keras/src/layers/preprocessing/stft_spectrogram.py:375 writes the array into its config as it is, and the layer
takes what it is read back as, a dict, for the window.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "ValueError"
# fingerprint = "made-raises-valueerror-1e6e7b53"
# trial.inputs = [{ shape = [2, 1] }]
# [[match]]
# check = "made"
# found = "*__numpy__*"
# exception = "ValueError"
# frame = "keras/src/ops/core.py:convert_to_tensor"
# ///

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(2, 1))
inner_inputs = keras.Input(shape=(2, 1))
stftspectrogram = layers.STFTSpectrogram(frame_length=2, frame_step=1, window=np.arange(1, 3, dtype="float32") / 2)(
    inner_inputs
)
inner_model = keras.Model(inner_inputs, stftspectrogram)
model_2 = inner_model(inputs)
model = keras.Model(inputs, model_2)

clone = keras.models.clone_model(model)
