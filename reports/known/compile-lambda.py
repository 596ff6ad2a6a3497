"""A model that is compiled with a Python lambda cannot be cloned.

keras/src/models/cloning.py:424, and :339 for a Sequential, compile the clone from a config, which is read back in
safe mode and refuses a lambda (keras/src/saving/serialization_lib.py:681).
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "ValueError"
# since = "3.9.0"
# fingerprint = "made-raises-valueerror-7fc94124"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = "*Python lambda*"
# exception = "ValueError"
# frame = "keras/src/trainers/trainer.py:compile_from_config"
# ///

import keras
from keras import layers
from keras import ops

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
model.compile(loss=lambda y_true, y_pred: ops.mean(ops.abs(y_true - y_pred), axis=-1))

clone = keras.models.clone_model(model)
