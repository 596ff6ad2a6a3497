"""`clone_model` loses an operand of `x == y` or `x != y` and raises `TypeError`.

The first parameter of the operator's function is taken for the `self` of a layer, so the other operand is lost.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/utils/layer_utils.py#L790
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/node.py#L193
"""

import tf_keras as keras

inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, inputs != 0.5)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "tf_keras"
# root = "operations"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "TypeError"
# link = "https://github.com/keras-team/tf-keras/issues/31"
# fingerprint = "made-raises-in-a-call-typeerror-d7f77323"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "made"
# found = "*Missing required positional argument*"
# exception = "TypeError"
# frame = "*/layers/core/tf_op_layer.py:_call_wrapper"
# ///
