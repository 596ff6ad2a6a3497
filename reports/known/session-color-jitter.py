"""The layers in a RandomColorJitter have the image data format of the session when it is cloned.

keras/src/layers/preprocessing/image_preprocessing/random_color_jitter.py:98 makes them without the data_format that
it is given itself.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-config-data-format-randombrightness-d2fcedd2"
# trial.inputs = [{ shape = [4, 4, 3] }]
# [[match]]
# check = "structure"
# aspect = "config.data_format"
# inside = "RandomColorJitter"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4, 4, 3))
random_color_jitter = layers.RandomColorJitter(brightness_factor=0.5)(inputs)
model = keras.Model(inputs, random_color_jitter)
keras.config.set_image_data_format("channels_first")

clone = keras.models.clone_model(model)
expected, found = (it.layers[1].random_brightness.data_format for it in (model, clone))
assert found == expected, f"the RandomBrightness has {found} in the clone, {expected} in the model"
