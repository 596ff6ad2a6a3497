"""`activations.serialize` rejects None, so cloning a layer whose `activation` was set to None raises.

`Dense.call` skips an activation that is None, but `get_config` needs a function or "linear". The model cannot be saved
either.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/activations/__init__.py#L79
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/core/dense.py#L225
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/core/dense.py#L371
"""

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1, activation="softmax")(inputs)
model = keras.Model(inputs, outputs)
model.layers[1].activation = None

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# workaround = "find the layer whose `activation` was set to None, and set `keras.activations.linear`"
# root = "class-config"
# verdict = "minor"
# severity = "crash"
# loading = true
# raises = "TypeError"
# until = "3.16.0"
# fingerprint = "made-raises-typeerror-993774c7"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# found = "*'NoneType'*"
# exception = "TypeError"
# frame = "keras/src/activations/__init__.py:serialize"
# ///
