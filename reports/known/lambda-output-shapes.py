"""`Lambda.from_config` leaves multiple output shapes as lists, so cloning and loading raise.

A single shape is converted back to a tuple; each of several shapes stays a list, and the batch size cannot be prepended
to a list.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/core/lambda_layer.py#L231
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/core/lambda_layer.py#L108
"""

import keras
from keras import layers


@keras.saving.register_keras_serializable()
def both(x):
    return [x, x * 2.0]


inputs = keras.Input(shape=(1,))
outputs = layers.Lambda(both, output_shape=[(1,), (1,)])(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "TypeError"
# fingerprint = "made-raises-in-a-call-typeerror-6e90e7c3"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# found = "*can only concatenate tuple*"
# exception = "TypeError"
# frame = "keras/src/layers/core/lambda_layer.py:_add_batch"
#
# [[match]]
# check = "structure"
# aspect = "config.output_shape"
# kind = "Lambda"
# ///
