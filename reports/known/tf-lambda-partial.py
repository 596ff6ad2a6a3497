"""`Lambda.get_config` raises `AttributeError` for a `functools.partial`, so cloning raises.

A bound method raises "unsupported callable", and a tensor as `mask` cannot be serialized.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/layers/core/lambda_layer.py#L310
"""

import functools

import tf_keras as keras
from tf_keras import layers


def times(x, by):
    return x * by


inputs = keras.Input(shape=(4,))
outputs = layers.Lambda(functools.partial(times, by=2.0))(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "tf_keras"
# root = "file-format"
# verdict = "minor"
# severity = "crash"
# loading = true
# raises = "AttributeError"
# fingerprint = "made-raises-attributeerror-483f84c5"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "made"
# found = "*has no attribute '__name__'*"
# exception = "AttributeError"
# frame = "*/layers/core*:_serialize_function_to_config"
#
# [[match]]
# check = "made"
# found = "*unsupported callable*"
# exception = "TypeError"
# frame = "*/utils/tf_inspect.py:getfullargspec"
#
# [[match]]
# check = "made"
# found = "*'NoneType' object has no attribute 'get'*"
# exception = "AttributeError"
# frame = [
#     "*/utils/generic_utils.py:deserialize_keras_object",
#     "*/saving/legacy/serialization.py:deserialize_keras_object",
# ]
#
# [[match]]
# check = "made"
# found = "*Invalid input for serialization*"
# exception = "ValueError"
# frame = "*/layers/core*:_serialize_function_to_config"
# ///
