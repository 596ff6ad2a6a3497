"""`LayerNormalization.get_config` returns its tracked `axis` list, so the clone keeps the original's variables alive.

The clone stores its constructor arguments for the automatic config, among them the list of the original. That list
refers to its tracker, which holds the variables of the original: they stay in memory as long as the clone.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/normalization/layer_normalization.py#L214
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/ops/operation.py#L232
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/utils/tracking.py#L141
"""

import gc
import weakref

import keras
from keras import layers

model = keras.Sequential([keras.Input(shape=(3,)), layers.LayerNormalization()])
gamma = weakref.ref(model.layers[0].gamma)

clone = keras.models.clone_model(model)
del model
gc.collect()
assert gamma() is None, "the clone keeps `gamma` of the deleted model in memory"

# /// clonediff
# generation = "keras"
# root = "sharing"
# verdict = "minor"
# severity = "lost-property"
# fingerprint = "own-object-reached-config-a788a1d3"
# trial.inputs = [{ shape = [3] }]
#
# [[match]]
# check = "own"
# aspect = "object reached.config"
# found = "the original's Tracked*"
#
# [[match]]
# check = "own"
# aspect = "object shared"
# path = "layers*.attribute.*"
# found = ["the original's list*", "the original's ndarray*"]
#
# [[match]]
# check = "own"
# aspect = "object reached.config"
# found = ["the original's list, *", "the original's dict, *"]
# ///
