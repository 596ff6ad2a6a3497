"""A Lambda of a Python lambda that uses a name of its module cannot be cloned.

keras/src/layers/core/lambda_layer.py:202 makes the function of its code anew, for which
keras/src/utils/python_utils.py:97 takes the names of Keras' own module; that it fails there,
keras/src/layers/core/lambda_layer.py:94 tells as a shape that cannot be told; since 3.15.0 a Python lambda is
refused before (:200 there), unless unsafe deserialization is enabled.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "NotImplementedError"
# since = "3.3.3"
# fingerprint = "made-raises-in-a-call-notimplementederror-229f29bd"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = "*could not automatically infer the shape of*"
# exception = "NotImplementedError"
# frame = "keras/src/layers/core/lambda_layer.py:compute_output_shape"
# ///

import keras
from keras import layers

FACTOR = 2.0

inputs = keras.Input(shape=(1,))
lambda_2 = layers.Lambda(lambda x: x * FACTOR)(inputs)
model = keras.Model(inputs, lambda_2)
keras.config.enable_unsafe_deserialization()

clone = keras.models.clone_model(model)
