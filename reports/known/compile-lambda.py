"""`clone_model` deserializes the compile config in safe mode, so a lambda loss raises.

Since 3.9.0 the clone is compiled from a config, which is treated like an untrusted file. A lambda metric raises, too,
and so does any unregistered function, as `compile-own-function` shows. With unsafe deserialization enabled, cloning
warns that a lambda is unsafe to save, though nothing is saved.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L424
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/saving/serialization_lib.py#L681
"""

import keras
from keras import layers
from keras import ops

inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1)(inputs)
model = keras.Model(inputs, outputs)
model.compile(loss=lambda y_true, y_pred: ops.mean(ops.abs(y_true - y_pred), axis=-1))

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "file-format"
# verdict = "accept"
# severity = "crash"
# raises = "ValueError"
# since = "3.9.0"
# fingerprint = "made-raises-valueerror-7fc94124"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# found = "*Python lambda*"
# exception = "ValueError"
# frame = "keras/src/trainers/trainer.py:compile_from_config"
#
# [[match]]
# check = "warned"
# aspect = "raises"
# found = "*includes a `lambda`*"
# exception = "UserWarning"
# frame = "keras/src/saving/serialization_lib.py:serialize_keras_object"
# ///
