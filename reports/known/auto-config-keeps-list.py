"""A clone keeps a list that the original tracks, and with it the weights of the original.

keras/src/models/cloning.py:219 makes a layer of the config of another. A config may have a list of that layer itself
(keras/src/layers/normalization/layer_normalization.py:214), and the arguments of the constructor are kept
(keras/src/ops/operation.py:232). The list knows its tracker (keras/src/utils/tracking.py:141), which lists the
variables of the original: they stay in memory as long as the clone.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "own-object-reached-config-a788a1d3"
# trial.inputs = [{ shape = [3] }]
# [[match]]
# check = "own"
# aspect = "object reached.config"
# found = "the original's Tracked*"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(3,))
layer_normalization = layers.LayerNormalization()(inputs)
model = keras.Model(inputs, layer_normalization)

clone = keras.models.clone_model(model)

arguments = clone.get_layer("layer_normalization")._auto_config.config
assert arguments["axis"] is not model.get_layer("layer_normalization").axis, "the clone has a list of the model"
