"""A model that compares a tensor by == or != cannot be cloned.

tf_keras/src/utils/layer_utils.py:790 takes the first parameter of the operator's function for a layer's self, so
that tf_keras/src/engine/node.py:193 loses what it was compared with.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "TypeError"
# link = "https://github.com/keras-team/tf-keras/issues/31"
# fingerprint = "made-raises-in-a-call-typeerror-d7f77323"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# found = "*Missing required positional argument*"
# exception = "TypeError"
# frame = "*/layers/core/tf_op_layer.py:_call_wrapper"
# ///

import tf_keras as keras

inputs = keras.Input(shape=(4,))
not_equal = inputs != 0.5
model = keras.Model(inputs, not_equal)

clone = keras.models.clone_model(model)
