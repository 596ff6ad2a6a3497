"""A layer that the get_config of a custom class has as it is, is the original's in the clone.

keras/src/models/cloning.py:219 hands the config to from_config without serializing it. Keras says that get_config has to
serialize it.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# link = "https://keras.io/guides/serialization_and_saving/"
# documented = true
# fingerprint = "own-layer-shared-0864043d"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "own"
# aspect = "layer shared"
# given = "inside a layer of one's own"
# ///

import keras
from keras import layers


class Times(layers.Layer):
    def __init__(self, by, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def call(self, x):
        return self.by(x)

    def get_config(self):
        return {**super().get_config(), "by": self.by}


inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, Times(layers.Dense(4))(inputs))

clone = keras.models.clone_model(model)
assert clone.layers[1].by is not model.layers[1].by, "the clone has the layer of the model"
