"""An operation that maps a function over a tensor (ops.vectorized_map) cannot be cloned.

keras/src/ops/core.py:1159 writes the function itself into the config, and :1165 reads it as if it were the config
of one, which keras/src/saving/serialization_lib.py:629 refuses.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-b7d55d89"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# found = [
#     "*functools.partial*", "*Could not parse config: <function*", "*Could not parse config: <bound method*",
# ]
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:deserialize_keras_object"
# ///

import functools
import keras
from keras import ops


def times_by(x, by):
    return x * by


inputs = keras.Input(shape=(4,))
vectorized_map = ops.vectorized_map(functools.partial(times_by, by=2.0), inputs)
model = keras.Model(inputs, vectorized_map)

clone = keras.models.clone_model(model)
