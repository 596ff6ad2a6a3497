"""The layers inside a RandomColorJitter that was frozen once it was made are not frozen in the clone.

keras/src/layers/preprocessing/image_preprocessing/random_color_jitter.py:98, :105, :112 and :119 make them without
the layer's trainable, which the clone's constructor is given before they are there; they have no weights to train,
so that training is the same.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-trainable-in-randomcolorjitter-8314394b"
# trial.inputs = [{ shape = [4, 4, 3] }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# inside = "RandomColorJitter"
# found = "true"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4, 4, 3))
random_color_jitter_layer = layers.RandomColorJitter(hue_factor=0.5)
random_color_jitter_layer.trainable = False
random_color_jitter = random_color_jitter_layer(inputs)
model = keras.Model(inputs, random_color_jitter)

clone = keras.models.clone_model(model)
assert not clone.layers[1].random_hue.trainable, "the RandomHue is frozen in the model, and not in the clone"
