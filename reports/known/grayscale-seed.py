"""A RandomGrayscale loses its seed in the clone.

keras/src/layers/preprocessing/image_preprocessing/random_grayscale.py:123 writes the factor only, neither the seed,
which https://github.com/keras-team/keras/pull/23658 adds, nor the data format.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# until = "3.16.0"
# link = "https://github.com/keras-team/keras/issues/23657"
# fingerprint = "structure-attribute-seed-randomgrayscale-89d88d22"
# trial.inputs = [{ shape = [4, 4, 3] }]
# [[match]]
# check = "structure"
# aspect = "attribute.seed"
# kind = "RandomGrayscale"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4, 4, 3))
random_grayscale = layers.RandomGrayscale(factor=0.5, seed=7)(inputs)
model = keras.Model(inputs, random_grayscale)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("random_grayscale").seed for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
