"""`Lambda.from_config` restores a lambda without its globals, so cloning raises.

The function gets the globals of a Keras module; the `NameError` is reported as a shape that cannot be inferred. Since
3.15.0 a lambda is rejected before that, unless unsafe deserialization is enabled, as the error advises.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/core/lambda_layer.py#L202
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/utils/python_utils.py#L97
"""

import keras
from keras import layers

keras.config.enable_unsafe_deserialization()
FACTOR = 2.0

inputs = keras.Input(shape=(1,))
outputs = layers.Lambda(lambda x: x * FACTOR)(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "file-format"
# verdict = "minor"
# severity = "crash"
# raises = "NotImplementedError"
# fingerprint = "made-raises-in-a-call-notimplementederror-229f29bd"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# found = "*could not automatically infer the shape of*"
# exception = "NotImplementedError"
# frame = "keras/src/layers/core/lambda_layer.py:compute_output_shape"
# ///
