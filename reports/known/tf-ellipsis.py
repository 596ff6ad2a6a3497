"""`serialize_keras_object` rejects `Ellipsis`, so saving `x[..., :1]`, or cloning it in a nested model, raises.

https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/saving/serialization_lib.py#L394
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/models/cloning.py#L52
"""

import tf_keras as keras

x = keras.Input(shape=(3, 2))
inner = keras.Sequential([keras.Input(shape=(3, 2)), keras.Model(x, x[..., :1])])
inputs = keras.Input(shape=(3, 2))
model = keras.Model(inputs, inner(inputs))

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "tf_keras"
# root = "operations"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-f647d310"
# trial.inputs = [{ shape = [3, 2] }]
#
# [[match]]
# check = "made"
# found = "*Ellipsis*"
# exception = "TypeError"
# frame = "*keras/src/saving/serialization_lib.py:_get_class_or_fn_config"
# ///
