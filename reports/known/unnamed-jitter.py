"""The layers inside a RandomColorJitter get other names in the clone.

keras/src/layers/preprocessing/image_preprocessing/random_color_jitter.py:98, :105, :112 and :119 make them without
a name, so each copy takes the next name that is free.
"""

# /// clonediff
# generation = "keras"
# severity = "name"
# fingerprint = "structure-name-87491fc9"
# trial.inputs = [{ shape = [4, 4, 3] }]
# [[match]]
# check = ["structure", "again"]
# aspect = "name"
# inside = "RandomColorJitter"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4, 4, 3))
random_color_jitter = layers.RandomColorJitter(hue_factor=0.5)(inputs)
model = keras.Model(inputs, random_color_jitter)

clone = keras.models.clone_model(model)
expected, found = [
    [each.name for each in it._flatten_layers() if not isinstance(each, keras.layers.InputLayer)]
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
