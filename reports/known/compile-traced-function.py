"""A model, or a layer, that was given a tf.function cannot be cloned.

keras/src/saving/serialization_lib.py:413 takes the name of what has no get_config for its config, and :740 wants a
dictionary, since it is no plain function.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-5cfa3f69"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# found = "*to be a dict for Function*"
# exception = "TypeError"
# ///

import keras
import tensorflow as tf
from keras import layers
from keras import ops


@tf.function
def error(y_true, y_pred):
    return ops.mean(ops.abs(y_true - y_pred), axis=-1)


inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4)(inputs))
model.compile(loss=error)

clone = keras.models.clone_model(model)
