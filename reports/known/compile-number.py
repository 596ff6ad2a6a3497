"""A NumPy number that a loss or a metric of a custom class holds is a Python number in the clone.

keras/src/saving/serialization_lib.py:238 writes it as a Python number into the config.
"""

# /// clonediff
# generation = "keras"
# severity = "trains"
# fingerprint = "structure-compiled-loss-error-by-model-06a44c59"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = ["compiled.*", "attribute.*"]
# expected = ["float32(*", "a tensor of ()"]
# found = "2.0"
# ///

import keras
import numpy as np
from keras import layers
from keras import ops


@keras.saving.register_keras_serializable()
class Error(keras.losses.Loss):
    def __init__(self, by, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def call(self, y_true, y_pred):
        return ops.mean(ops.abs(y_true - y_pred) * self.by, axis=-1)

    def get_config(self):
        return {**super().get_config(), "by": self.by}


inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4)(inputs))
model.compile(loss=Error(np.float32(2.0)))

clone = keras.models.clone_model(model)
expected, found = [type(it.loss.by).__name__ for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
