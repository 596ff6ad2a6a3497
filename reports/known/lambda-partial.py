"""A layer or a compiled model with a functools.partial, or with an object that can be called and has no config,
cannot be cloned.

keras/src/layers/core/lambda_layer.py:163 takes any callable, as keras/src/activations/__init__.py:126 does, but
keras/src/saving/serialization_lib.py:416 refuses one that has neither a name nor a config.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-f6e8b37e"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# kind = ""
# found = ["*functools.partial(*", "*Cannot serialize object <* object at *"]
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:_get_class_or_fn_config"
#
# [[match]]
# check = "made"
# kind = ""
# found = "*Cannot serialize object *"
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:serialize_keras_object"
# ///

import functools
import keras
from keras import layers


def times_by(x, by):
    return x * by


inputs = keras.Input(shape=(4,))
lambda_2 = layers.Lambda(functools.partial(times_by, by=2.0))(inputs)
model = keras.Model(inputs, lambda_2)

clone = keras.models.clone_model(model)
