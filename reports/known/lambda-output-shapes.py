"""A Lambda that tells the shapes of several outputs cannot be cloned.

keras/src/layers/core/lambda_layer.py:231 makes a tuple of one shape that it reads back, and leaves several as
lists, to which :108 cannot add a batch.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-in-a-call-typeerror-6e90e7c3"
# trial.inputs = [{ shape = [1] }]
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

import keras
from keras import layers


@keras.saving.register_keras_serializable()
def transform(x):
    return [x, x * 2.0]


inputs = keras.Input(shape=(1,))
lambda_a, lambda_b = layers.Lambda(transform, output_shape=[(1,), (1,)])(inputs)
model = keras.Model(inputs, lambda_a)

clone = keras.models.clone_model(model)
