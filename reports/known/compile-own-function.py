"""`clone_model` compiles the clone from a serialized config, so an unregistered loss function raises.

Since 3.9.0 the clone is compiled from the result of `get_compile_config`: a function or class is saved by name and
looked up among registered ones, a bound method is saved as an object without a config. Such a model can be cloned only
before it is compiled.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L424
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/saving/serialization_lib.py#L899
"""

import keras
from keras import layers
from keras import ops


def error(y_true, y_pred):
    return ops.mean(ops.abs(y_true - y_pred), axis=-1)


inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1)(inputs)
model = keras.Model(inputs, outputs)
model.compile(loss=error)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "file-format"
# verdict = "accept"
# severity = "crash"
# raises = "TypeError"
# since = "3.9.0"
# fingerprint = "made-raises-typeerror-5cfa3f69"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# found = "*Could not locate *"
# exception = "TypeError"
# frame = "keras/src/trainers/trainer.py:compile_from_config"
#
# [[match]]
# check = "made"
# found = "*to be a dict for method,*"
# exception = "TypeError"
# frame = "keras/src/trainers/trainer.py:compile_from_config"
#
# [[match]]
# check = "warned"
# aspect = "raises"
# found = "*includes a `lambda`*"
# exception = "UserWarning"
# frame = "keras/src/saving/serialization_lib.py:serialize_keras_object"
#
# [[match]]
# check = "made"
# found = "*to be a dict for Function,*"
# exception = "TypeError"
# frame = "keras/src/trainers/trainer.py:compile_from_config"
# ///
