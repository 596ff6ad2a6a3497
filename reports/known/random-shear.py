"""A RandomShear that was given one number for a factor cannot be cloned.

keras/src/layers/preprocessing/image_preprocessing/random_shear.py:137 refuses a factor below zero, which the
constructor has made of the one it was given (a range from -0.5 to 0.5) and get_config writes.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-80e761e0"
# trial.inputs = [{ shape = [4, 4, 2] }]
# [[match]]
# check = "made"
# found = "*input_number=-*"
# exception = "TypeError"
# frame = "keras/src/layers/preprocessing/image_preprocessing/random_shear.py:*"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4, 4, 2))
random_shear = layers.RandomShear(x_factor=0.5)(inputs)
model = keras.Model(inputs, random_shear)

clone = keras.models.clone_model(model)
