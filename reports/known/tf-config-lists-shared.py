"""A list in a config is one object in the original and in its clone.

tf_keras/src/models/cloning.py:52 makes the clone of the config as it is, and layers tell lists that they hold, such
as Lambda at tf_keras/src/layers/core/lambda_layer.py:299; a layer without a config of its own tells the lists and
dictionaries that its constructor was given (tf_keras/src/engine/base_layer.py:818).
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "own-object-shared-89695d8c"
# trial.inputs = [{ shape = [1, 1] }]
# [[match]]
# check = "own"
# aspect = "object shared"
# path = "layers*.attribute.*"
# found = ["the original's list*", "the original's ListWrapper*"]
#
# [[match]]
# check = "own"
# aspect = "object shared"
# path = "layers*.attribute.arguments"
# found = ["the original's dict*", "the original's _DictWrapper*"]
#
# [[match]]
# check = "own"
# aspect = ["object reached.config", "object reached._output_shape"]
# found = ["the original's list, *", "the original's ListWrapper, *", "the original's dict, *"]
#
# [[match]]
# check = "sharing"
# aspect = "merged.input_bin_boundaries"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1, 1))
dropout = layers.Dropout(0.5, noise_shape=[None, 1, 1])(inputs)
model = keras.Model(inputs, dropout)

clone = keras.models.clone_model(model)

assert clone.get_layer("dropout").noise_shape is not model.get_layer("dropout").noise_shape, (
    "the clone has an object of the model"
)
