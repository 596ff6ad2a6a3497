"""A layer whose activation is a layer of a class that is not registered cannot be cloned.

keras/src/models/cloning.py:219 makes the layer from its config, in which the activation is a config, too, whose
class keras/src/saving/serialization_lib.py:899 does not find.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# link = "https://keras.io/guides/serialization_and_saving/"
# documented = true
# fingerprint = "made-raises-typeerror-66b9b913"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = "*Could not locate class '*"
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:_retrieve_class_or_fn"
# ///

import keras
from keras import layers


class Double(layers.Layer):
    def __init__(self, by, **kwargs):
        super().__init__(**kwargs)
        self.built = True
        self.by = by

    def call(self, x):
        return x * self.by

    def get_config(self):
        return {**super().get_config(), "by": self.by}


inputs = keras.Input(shape=(1,))
dense = layers.Dense(1, activation=Double(2.0))(inputs)
model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
