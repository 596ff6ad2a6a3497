"""A layer cannot be cloned whose function is a functools.partial, or an object that can be called and has no
config.

tf_keras/src/activations.py:692 takes whatever can be called, as do initializers, regularizers and constraints, and
tf_keras/src/saving/serialization_lib.py:394 refuses what has neither a name nor a config.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-f647d310"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = ["*Cannot serialize object functools.partial(*", "*Cannot serialize object <*"]
# exception = "TypeError"
# frame = "tf_keras/src/saving/serialization_lib.py:_get_class_or_fn_config"
# ///

import functools
import tf_keras as keras
from tf_keras import layers


def double(x, *, by):
    return x * by


inputs = keras.Input(shape=(1,))
dense = layers.Dense(1, activation=functools.partial(double, by=2.0))(inputs)
model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
