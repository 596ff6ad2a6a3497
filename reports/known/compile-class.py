"""`compile(loss=MeanSquaredError)`: the class itself is serialized, so cloning and saving raise.

`compile` accepts a loss or a metric as a class and creates an instance. The compile config holds the class, and
serialization calls its `get_config` without an instance.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/losses/__init__.py#L203
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/trainers/trainer.py#L229
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/saving/serialization_lib.py#L406
"""

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1)(inputs)
model = keras.Model(inputs, outputs)
model.compile(loss=keras.losses.MeanSquaredError)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# workaround = "give `compile` an object, such as `MeanSquaredError()`, and not the class"
# root = "file-format"
# verdict = "minor"
# severity = "crash"
# loading = true
# raises = "TypeError"
# since = "3.9.0"
# fingerprint = "made-raises-typeerror-f6e8b37e"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# found = "*get_config() missing 1 required*"
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:_get_class_or_fn_config"
# ///
