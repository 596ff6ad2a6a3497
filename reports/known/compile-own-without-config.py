"""A model that is compiled with a loss or a metric of a custom class without a get_config cannot be cloned.

keras/src/losses/loss.py:95 gives its constructor the config of the base. Keras says that the class has to have one.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# link = "https://keras.io/guides/serialization_and_saving/"
# documented = true
# fingerprint = "made-raises-typeerror-5cfa3f69"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# found = "*missing 1 required positional argument*"
# exception = "TypeError"
# frame = "keras/src/trainers/trainer.py:compile_from_config"
# ///

import keras
from keras import layers
from keras import ops


@keras.saving.register_keras_serializable()
class Error(keras.losses.Loss):
    def __init__(self, by, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def call(self, y_true, y_pred):
        return ops.mean(ops.abs(y_true - y_pred) * self.by, axis=-1)


inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4)(inputs))
model.compile(loss=Error(2.0))

clone = keras.models.clone_model(model)
