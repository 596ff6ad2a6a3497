"""`Lambda` with a Python lambda in a nested model: cloning raises (Keras 3.5 to 3.14).

A nested model is deserialized from its config in safe mode. Since 3.15, a lambda is rejected everywhere, as
`lambda-refused` shows.
https://github.com/keras-team/keras/blob/v3.14.1/keras/src/models/cloning.py#L219
https://github.com/keras-team/keras/blob/v3.14.1/keras/src/layers/core/lambda_layer.py#L191
"""

import keras
from keras import layers

x = keras.Input(shape=(1,))
inner = keras.Model(x, layers.Lambda(lambda x: x * 2.0)(x))
inputs = keras.Input(shape=(1,))
model = keras.Model(inputs, inner(inputs))

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "file-format"
# verdict = "accept"
# severity = "crash"
# raises = "ValueError"
# since = "3.5.0"
# until = "3.15.0"
# fingerprint = "made-raises-valueerror-c7fe8e53"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# found = "*`Lambda` layer*Python lambda*"
# exception = "ValueError"
# frame = "keras/src/layers/core/lambda_layer.py:*"
#
# [[match]]
# check = "made"
# found = "*`Lambda` layer*Python lambda*"
# exception = "ValueError"
# frame = "keras/src/layers/core/lambda_layer.py:*"
# ///
