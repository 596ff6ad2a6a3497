"""`RandomShear.from_config` rejects the negative bound that `get_config` writes, so cloning raises.

The constructor turns a factor of 0.5 into the range from -0.5 to 0.5, and rejects a range with a negative lower bound.
Loading raises, too.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/preprocessing/image_preprocessing/random_shear.py#L137
"""

import keras
from keras import layers

inputs = keras.Input(shape=(4, 4, 2))
outputs = layers.RandomShear(x_factor=0.5)(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "TypeError"
# since = "3.8.0"
# fingerprint = "made-raises-typeerror-80e761e0"
# trial.inputs = [{ shape = [4, 4, 2] }]
#
# [[match]]
# check = "made"
# found = "*input_number=-*"
# exception = "TypeError"
# frame = "keras/src/layers/preprocessing/image_preprocessing/random_shear.py:*"
# ///
