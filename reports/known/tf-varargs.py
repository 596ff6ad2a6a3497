"""Further tensors of a layer with call(self, *xs) are dropped in the clone.

tf_keras/src/engine/node.py:198 zips the further arguments with the names of the call's parameters, and *xs has
none. Where the first tensor has fewer axes than their sum, a layer that is called on it may crash.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "computes"
# fingerprint = "structure-call-args-missing-5e3b3c70"
# trial.inputs = [{ shape = [3, 4], fill = "steps" }]
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

import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class SumAll(layers.Layer):
    def call(self, *xs):
        total = xs[0] * 1.0
        for x in xs[1:]:
            total = total + x
        return total


inputs = keras.Input(shape=(3, 4))
sum_all = SumAll()(inputs, inputs)
model = keras.Model(inputs, sum_all)

clone = keras.models.clone_model(model)
expected, found = [
    [[(len(node.call_args)) for node in each.inbound_nodes] for each in it.layers] for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
