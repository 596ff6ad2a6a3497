"""`Lambda.from_config` does not deserialize `mask`, so the cloned layer's `mask` is a dictionary.

It deserializes `function`, `output_shape` and `arguments` only. The mask is lost in any form, a function, a tensor or
an array, and by loading, too. Up to 3.15, the clone of a model hides the loss by replaying the recorded mask; a layer
that follows any other call of the cloned layer raises.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/core/lambda_layer.py#L144
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/core/lambda_layer.py#L183
"""

import keras
import numpy as np
from keras import layers


@keras.saving.register_keras_serializable()
def double(x):
    return x * 2.0


@keras.saving.register_keras_serializable()
def keep_mask(x, mask=None):
    return mask


inputs = keras.Input(shape=(3, 4))
outputs = layers.Lambda(double, mask=keep_mask, name="double")(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
x = np.ones((1, 3, 4), dtype="float32")
layers.LSTM(2)(model.get_layer("double")(x))
layers.LSTM(2)(clone.get_layer("double")(x))

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "AttributeError"
# fingerprint = "structure-config-mask-lambda-4904dde9"
# trial.inputs = [{ shape = [3, 4] }]
#
# [[match]]
# check = "structure"
# aspect = "config.mask"
# kind = "Lambda"
#
# [[match]]
# check = "made"
# found = "*Cast string to *"
# exception = "UnimplementedError"
# frame = "keras/src/*"
# given = "a Lambda with a mask"
#
# [[match]]
# check = "made"
# found = "*'str' object has no attribute*"
# exception = "AttributeError"
# frame = "keras/src/layers/*:compute_mask"
#
# [[match]]
# check = "made"
# found = "*operand type for unary ~: 'str'*"
# exception = "TypeError"
# frame = "keras/src/layers/layer.py:_set_mask_metadata"
#
# [[match]]
# check = "structure"
# aspect = "call.*"
# path = "layers*kwargs['mask']*"
# found = ["__lambda__", "builtins", "function"]
#
# [[match]]
# check = "made"
# found = "*cannot mix tensors and non-tensors*mask=*'*'*"
# exception = "ValueError"
# frame = "keras/src/layers/layer.py:__init__"
#
# [[match]]
# check = "made"
# found = "*Invalid dtype: str*"
# exception = "ValueError"
# frame = "keras/src/backend/common/variables.py:standardize_dtype"
# ///
