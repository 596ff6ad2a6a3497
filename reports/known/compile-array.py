"""A loss, a metric, a schedule or a regularizer of a custom class that holds an array, a tensor, a variable or a layer holds its config in the clone.

keras/src/saving/serialization_lib.py:230 writes an array as a dictionary, and the from_config of the base classes, as in
keras/src/losses/loss.py:95, hands it to the constructor as it is. Keras says that the class has to read it.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# link = "https://keras.io/guides/serialization_and_saving/"
# documented = true
# fingerprint = "training-raises-invalidargumenterror-77686d89"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = ["structure", "weights"]
# aspect = ["compiled.*", "attribute.*", "weight constraint"]
# found = ["*__numpy__*", "*__tensor__*", "dict of *", "*class_name*"]
#
# [[match]]
# check = ["training", "outputs"]
# exception = ["InvalidArgumentError", "ValueError"]
# frame = ["keras/src/losses/loss.py:__call__", "keras/src/layers/layer.py:_get_regularization_losses"]
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
model.compile(loss=Error(np.arange(1, 2)))

clone = keras.models.clone_model(model)
expected, found = [type(it.loss.by).__name__ for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
