"""Cloning a model that is compiled with a Python lambda warns that a lambda is unsafe to save, though nothing is
saved.

keras/src/models/cloning.py:423, and :338 for a Sequential, ask the model for the config that it was compiled with,
and keras/src/saving/serialization_lib.py:242 warns of each lambda that it writes; it shows where unsafe
deserialization is enabled, and the lambda is not refused.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# since = "3.9.0"
# fingerprint = "warned-raises-userwarning-b6a5eda5"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "warned"
# aspect = "raises"
# found = "*includes a `lambda`*"
# exception = "UserWarning"
# frame = "keras/src/saving/serialization_lib.py:serialize_keras_object"
# ///

import keras
from keras import layers
from keras import ops

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
keras.config.enable_unsafe_deserialization()
model.compile(loss=lambda y_true, y_pred: ops.mean(ops.abs(y_true - y_pred), axis=-1))

import re
import warnings

with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    clone = keras.models.clone_model(model)

said = "The object being serialized includes a `lambda`. This is unsafe. In order to reload the object, you will have to pass `safe_mode=False` to the load"
told = [re.sub(r"0x[0-9a-fA-F]*|_?\d+", "", str(each.message)) for each in heard]
assert not any(said in each for each in told), f"cloning warns: {told}"
