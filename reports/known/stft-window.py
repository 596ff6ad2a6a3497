"""`STFTSpectrogram.from_config` does not deserialize an array `window`, so loading, or cloning a nested model, raises.

`get_config` returns the array itself, so cloning the layer at the top level works. Once the config is serialized, in a
file, a nested model or `Model.from_config`, the constructor gets a dictionary instead of the array.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/preprocessing/stft_spectrogram.py#L375
"""

import keras
import numpy as np
from keras import layers

x = keras.Input(shape=(2, 1))
window = np.array([0.5, 1.0], dtype="float32")
inner = keras.Model(x, layers.STFTSpectrogram(frame_length=2, frame_step=1, window=window)(x))
inputs = keras.Input(shape=(2, 1))
model = keras.Model(inputs, inner(inputs))

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "ValueError"
# since = "3.7.0"
# backends = ["tensorflow", "torch"]
# fingerprint = "made-raises-valueerror-1e6e7b53"
# trial.inputs = [{ shape = [2, 1] }]
#
# [[match]]
# check = "made"
# found = "*__numpy__*"
# exception = "ValueError"
# frame = "keras/src/ops/core.py:convert_to_tensor"
#
# [[match]]
# check = "made"
# found = "*Invalid dtype: object*"
# exception = "ValueError"
# frame = "keras/src/backend/common/variables.py:standardize_dtype"
# ///
