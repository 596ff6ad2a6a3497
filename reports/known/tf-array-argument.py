"""`Node.serialize` converts array arguments to lists, so a cloned layer that needs an array raises.

The clone calls its layers with the arguments as saved in a config. An argument that is not JSON-serializable, such as a
NumPy dtype, raises an error about saving.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/node.py#L212
"""

import numpy as np
import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class Shift(layers.Layer):
    def call(self, x, by):
        return x + by.reshape(-1)


inputs = keras.Input(shape=(2,))
outputs = Shift()(inputs, by=np.array([1.0, 2.0], dtype="float32"))
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "tf_keras"
# root = "operations"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "AttributeError"
# fingerprint = "made-raises-in-a-call-attributeerror-e22361ab"
# trial.inputs = [{ shape = [2] }]
#
# [[match]]
# check = "structure"
# aspect = ["call.args type", "call.kwargs type"]
# expected = ["*\"array\"*", "*\"constant\"*"]
#
# [[match]]
# check = "made"
# exception = "*Error"
# frame = "*/engine/base_layer.py:_infer_output_signature"
# given = "a custom layer"
#
# [[match]]
# check = "made"
# exception = "AttributeError"
# frame = "*/layers/core/tf_op_layer.py:_call_wrapper"
#
# [[match]]
# check = "made"
# found = "*non-JSON-serializable arguments*"
# exception = "TypeError"
# frame = "*/engine/node.py:serialize"
#
# [[match]]
# check = "made"
# exception = "AttributeError"
# frame = "*/json_utils.py:get_json_type"
# ///
