"""A Lambda of a bound method cannot be cloned.

tf_keras/src/layers/core/lambda_layer.py:310 keeps only the name of a bound method, so the clone is given a str for
its function.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-21a8ebda"
# trial.inputs = [{ shape = [4] }]
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
# ///

import tf_keras as keras
from tf_keras import layers


class Factor:
    def __init__(self, by):
        self.by = by

    def apply(self, x):
        return x * self.by


inputs = keras.Input(shape=(4,))
lambda_2 = layers.Lambda(Factor(2.0).apply)(inputs)
model = keras.Model(inputs, lambda_2)

clone = keras.models.clone_model(model)
