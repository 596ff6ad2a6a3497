"""A Lambda of a functools.partial cannot be cloned.

tf_keras/src/layers/core/lambda_layer.py:310 asks any callable for its __name__, and a partial has none.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "AttributeError"
# fingerprint = "made-raises-attributeerror-483f84c5"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# found = "*has no attribute '__name__'*"
# exception = "AttributeError"
# frame = "*/layers/core*:_serialize_function_to_config"
# ///

import functools
import tf_keras as keras
from tf_keras import layers


def times_by(x, by):
    return x * by


inputs = keras.Input(shape=(4,))
lambda_2 = layers.Lambda(functools.partial(times_by, by=2.0))(inputs)
model = keras.Model(inputs, lambda_2)

clone = keras.models.clone_model(model)
