"""A model in which a layer is called with an argument that JSON cannot hold cannot be cloned.

tf_keras/src/models/cloning.py:298 makes the calls again from what tf_keras/src/engine/node.py:189 writes of them,
which refuses (:226) what JSON cannot hold, such as a dtype.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-b4ba4f9a"
# trial.inputs = [{ shape = [4] }]
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

import numpy as np
import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class Adjust(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, x, how=None):
        if isinstance(how, dict):
            return x * how["factor"] + how["terms"][0]
        if isinstance(how, tuple):
            return x * how[0][0] + how[0][1]
        if isinstance(how, list):
            return x - len(how)
        if isinstance(how, bool):
            return -x
        if isinstance(how, int):
            return x * (how + 1.0)
        if isinstance(how, float):
            return x + how
        if isinstance(how, str):
            return x * 2.0
        if isinstance(how, np.ndarray):
            return x * float(how.sum() + 4)
        if isinstance(how, np.dtype):
            return x / 2.0
        return x * 1.0


inputs = keras.Input(shape=(4,))
adjust = Adjust()(inputs, how=np.dtype(dtype="float16"))
model = keras.Model(inputs, adjust)

clone = keras.models.clone_model(model)
