"""The first layer inside an AugMix or a RandAugment has the name of that in the clone, and the others have other
names.

keras/src/layers/preprocessing/image_preprocessing/aug_mix.py:116, and rand_augment.py:80, hand their own name on to
their RandomShear where they are given one, as from a config, and make the others without a name.
"""

# /// clonediff
# generation = "keras"
# severity = "name"
# fingerprint = "structure-name-87491fc9"
# trial.inputs = [{ shape = [4, 4, 3] }]
# [[match]]
# check = ["structure", "again"]
# aspect = "name"
# inside = ["AugMix", "RandAugment"]
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4, 4, 3))
rand_augment = layers.RandAugment()(inputs)
model = keras.Model(inputs, rand_augment)

clone = keras.models.clone_model(model)
expected, found = [
    [each.name for each in it._flatten_layers() if not isinstance(each, keras.layers.InputLayer)]
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
