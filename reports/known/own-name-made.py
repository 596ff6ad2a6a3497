"""The name of a layer that its constructor makes of the name that it is given is longer in the clone.

keras/src/models/cloning.py:219 gives the constructor the name that it made, from the config.
"""

# /// clonediff
# generation = "keras"
# severity = "name"
# fingerprint = "structure-name-87491fc9"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "name"
# given = "a layer of one's own"
# ///

import keras
from keras import layers


class Times(layers.Layer):
    def __init__(self, by, name="it", **kwargs):
        super().__init__(name=f"{name}_own", **kwargs)
        self.by = by

    def call(self, x):
        return x * self.by

    def get_config(self):
        return {**super().get_config(), "by": self.by}


inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, Times(2.0)(inputs))

clone = keras.models.clone_model(model)
expected, found = [it.layers[1].name for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
