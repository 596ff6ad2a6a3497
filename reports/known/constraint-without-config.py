"""A layer with a constraint of a custom class without a get_config cannot be cloned.

keras/src/constraints/constraints.py:77 gives its constructor the config of the base, which is empty. Keras says that the class has to have one.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# link = "https://keras.io/guides/serialization_and_saving/"
# documented = true
# fingerprint = "made-raises-typeerror-6bf94406"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# exception = "TypeError"
# frame = "keras/src/constraints/constraints.py:from_config"
# ///

import keras
from keras import layers
from keras import ops


@keras.saving.register_keras_serializable()
class Own(keras.constraints.Constraint):
    def __init__(self, by):
        self.by = by

    def __call__(self, w):
        return ops.abs(w) / self.by


inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4, kernel_constraint=Own(2.0))(inputs))

clone = keras.models.clone_model(model)
