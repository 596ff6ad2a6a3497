"""The mask of a Lambda is, in the clone, the description that its config gives of it.

keras/src/layers/core/lambda_layer.py:144 writes the mask into the config, and from_config (:183 to :241) reads the
function, the output shape and the arguments back, but not the mask.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# fingerprint = "structure-config-mask-lambda-4904dde9"
# trial.inputs = [{ shape = [3, 4] }]
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
# found = "__lambda__"
#
# [[match]]
# check = "made"
# found = "*cannot mix tensors and non-tensors*mask=*'*'*"
# exception = "ValueError"
# frame = "keras/src/layers/layer.py:__init__"
# ///

import keras
from keras import layers


@keras.saving.register_keras_serializable()
def transform(x):
    return x + 1.0


@keras.saving.register_keras_serializable()
def output_mask(x, mask=None):
    return mask


inputs = keras.Input(shape=(3, 4))
lambda_2 = layers.Lambda(transform, mask=output_mask)(inputs)
model = keras.Model(inputs, lambda_2)

clone = keras.models.clone_model(model)
expected, found = [type(it.get_layer("lambda").mask) for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
