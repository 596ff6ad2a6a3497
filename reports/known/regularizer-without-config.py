"""A layer with a regularizer of a custom class without a get_config cannot be cloned.

keras/src/regularizers/regularizers.py:165 has no config for it. Keras says that the class has to have one.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "NotImplementedError"
# link = "https://keras.io/guides/serialization_and_saving/"
# documented = true
# fingerprint = "made-raises-notimplementederror-bfc5cf93"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# exception = "NotImplementedError"
# frame = "keras/src/regularizers/regularizers.py:get_config"
# ///

import keras
from keras import layers
from keras import ops


@keras.saving.register_keras_serializable()
class Own(keras.regularizers.Regularizer):
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return ops.mean(ops.abs(x)) * self.by


inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4, kernel_regularizer=Own(2.0))(inputs))

clone = keras.models.clone_model(model)
