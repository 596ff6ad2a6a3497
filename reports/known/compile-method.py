"""A model that is compiled with a bound method cannot be cloned.

keras/src/saving/serialization_lib.py:414 writes a bound method as an object whose config is its name, and :740
refuses such a config; before 3.15.0 the class of the method was looked for and not found.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# since = "3.15.0"
# until = "3.16.0"
# fingerprint = "made-raises-typeerror-5cfa3f69"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = "*to be a dict for method,*"
# exception = "TypeError"
# frame = "keras/src/trainers/trainer.py:compile_from_config"
# ///

import keras
from keras import layers
from keras import ops


class Factor:
    def __init__(self, by):
        self.by = by

    def apply(self, y_true, y_pred):
        return ops.mean(ops.abs(y_true - y_pred), axis=-1) * self.by


inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
model.compile(loss=Factor(2.0).apply)

clone = keras.models.clone_model(model)
