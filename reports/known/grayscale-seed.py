"""`RandomGrayscale.get_config` omits `seed`, so the clone converts different images to grayscale.

`SimpleRNN` does the same.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/preprocessing/image_preprocessing/random_grayscale.py#L123
"""

import keras
from keras import layers

inputs = keras.Input(shape=(4, 4, 3))
outputs = layers.RandomGrayscale(factor=0.5, seed=7, name="grayscale")(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("grayscale").seed for it in (model, clone)]
assert found == expected, f"`seed` is {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "lost-property"
# loading = true
# since = "3.11.0"
# until = "3.16.0"
# link = "https://github.com/keras-team/keras/issues/23657"
# fingerprint = "structure-attribute-seed-randomgrayscale-89d88d22"
# trial.inputs = [{ shape = [4, 4, 3] }]
#
# [[match]]
# check = "structure"
# aspect = "attribute.seed"
# kind = "RandomGrayscale"
#
# [[match]]
# check = "structure"
# aspect = "config.seed"
# kind = "SimpleRNNCell"
# inside = "SimpleRNN"
# ///
