"""A dictionary with numbers for keys that a layer without a get_config was made of is the original's in the clone.

keras/src/ops/operation.py:263 has it in the config as it is, and keras/src/models/cloning.py:219 makes the clone of that.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "own-object-reached-config-a788a1d3"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "own"
# aspect = "object reached*"
# expected = "*"
# found = "*_auto_config*"
# ///

import keras
from keras import layers


class Among(layers.Layer):
    def __init__(self, by, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def call(self, x):
        return x * self.by[1]


inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, Among({1: 2.0})(inputs))

clone = keras.models.clone_model(model)
assert clone.layers[1].get_config()["by"] is not model.layers[1].get_config()["by"], "both have one dictionary"
