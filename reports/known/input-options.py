"""`clone_model` drops `optional`, `sparse` and `ragged` of `Input`, so the clone rejects None.

The new `Input` is created from shape, dtype and name only.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L399
"""

import keras
import numpy as np
from keras import layers


@keras.saving.register_keras_serializable()
class AddIfGiven(layers.Layer):
    def call(self, x, y=None):
        return x if y is None else x + y


x = keras.Input(shape=(4,), name="x")
y = keras.Input(shape=(4,), optional=True, name="y")
model = keras.Model([x, y], AddIfGiven()(x, y))
model([np.ones((1, 4)), None])

clone = keras.models.clone_model(model)
clone([np.ones((1, 4)), None])

# /// clonediff
# generation = "keras"
# root = "rebuilt"
# verdict = "accept"
# severity = "crash"
# raises = "ValueError"
# since = "3.4.0"
# fingerprint = "structure-config-sparse-inputlayer-2e13b313"
# trial.inputs = [{ shape = [4] }, { shape = [4], optional = true }]
#
# [[match]]
# check = "structure"
# aspect = [
#     "config.optional", "attribute.optional", "input optional", "output optional", "config.sparse",
#     "config.ragged",
# ]
# kind = "InputLayer"
# ///
