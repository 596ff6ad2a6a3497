"""A layer called on a list of one tensor is called on the tensor in the clone.

tf_keras/src/engine/functional.py:1462 takes the only tensor out of its list.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "computes"
# link = "https://github.com/keras-team/keras/issues/17700"
# fingerprint = "structure-call-list-as-tensor-3ff225d3"
# trial.inputs = [{ shape = [4, 4, 2] }]
# [[match]]
# check = "structure"
# aspect = "call.args type"
# path = "layers?*?.calls[*].args[0]"
# found = "{\"tensor\"*"
#
# [[match]]
# check = "made"
# exception = ["ValueError", "IndexError", "TypeError"]
# given = "a list of one tensor"
# ///

import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class SumList(layers.Layer):
    def call(self, xs):
        total = xs[0] * 1.0
        for x in xs[1:]:
            total = total + x
        return total


inputs = keras.Input(shape=(4, 4, 2))
sum_list = SumList()([inputs])
model = keras.Model(inputs, sum_list)

clone = keras.models.clone_model(model)
assert clone.get_config() == model.get_config()
