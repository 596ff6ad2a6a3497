"""`clone_model` drops positional arguments of `call(self, *xs)`, so the cloned layer gets one tensor.

Further arguments are zipped with the parameter names, but the arguments in `*xs` have no names.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/node.py#L198
"""

import numpy as np
import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class Sum(layers.Layer):
    def call(self, *xs):
        return sum(xs[1:], xs[0])


inputs = keras.Input(shape=(1,))
outputs = Sum()(inputs, inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
x = np.array([[1.0]], dtype="float32")
expected, found = float(model(x)[0, 0]), float(clone(x)[0, 0])
assert found == expected, f"1.0 + 1.0 is {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "tf_keras"
# root = "operations"
# verdict = "accept"
# severity = "wrong-output"
# loading = true
# fingerprint = "structure-call-args-missing-5e3b3c70"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "structure"
# aspect = "call.args missing"
#
# [[match]]
# check = "made"
# found = "*einsum*"
# exception = "ValueError"
# frame = "*/layers/core/tf_op_layer.py:_call_wrapper"
#
# [[match]]
# check = "made"
# exception = "IndexError"
# frame = "*/layers/convolutional/conv2d_transpose.py:call"
# ///
