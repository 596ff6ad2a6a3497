"""A model that is compiled with a function or a class of one's own cannot be cloned.

keras/src/models/cloning.py:424, and :339 for a Sequential, compile the clone from a config, which has no more than
the name of what is not registered (keras/src/saving/serialization_lib.py:899).
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# since = "3.9.0"
# fingerprint = "made-raises-typeerror-5cfa3f69"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = "*Could not locate *"
# exception = "TypeError"
# frame = "keras/src/trainers/trainer.py:compile_from_config"
# ///

import keras
from keras import layers
from keras import ops


def error(y_true, y_pred):
    return ops.mean(ops.abs(y_true - y_pred), axis=-1)


inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
model.compile(loss=error)

clone = keras.models.clone_model(model)
