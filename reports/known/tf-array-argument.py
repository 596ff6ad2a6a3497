"""An array in the arguments of a call is a list in the clone.

tf_keras/src/engine/node.py:212 turns an array into a list, and nothing turns it back.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "computes"
# fingerprint = "structure-call-array-as-list-9573305b"
# trial.inputs = [{ shape = [4, 4, 2] }]
# [[match]]
# check = "structure"
# aspect = ["call.args type", "call.kwargs type"]
# expected = ["*\"array\"*", "*\"constant\"*"]
#
# [[match]]
# check = "made"
# exception = "*Error"
# frame = "*/engine/base_layer.py:_infer_output_signature"
# given = "a layer of one's own"
#
# [[match]]
# check = "made"
# exception = "AttributeError"
# frame = "*/layers/core/tf_op_layer.py:_call_wrapper"
# ///

import numpy as np
import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class Shift(layers.Layer):
    def call(self, x, by=None):
        return x + (by[1] if isinstance(by, list) else by)


inputs = keras.Input(shape=(4, 4, 2))
shift = Shift()(inputs, by=np.arange(1, 3, dtype="float32") / 2)
model = keras.Model(inputs, shift)

clone = keras.models.clone_model(model)
expected, found = (type(it.layers[1].inbound_nodes[0].call_kwargs["by"]).__name__ for it in (model, clone))
assert found == expected, f"the argument is a {found} in the clone, a {expected} in the model"
