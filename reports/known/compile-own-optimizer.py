"""A model that is compiled with an optimizer whose constructor takes less than that of its base cannot be cloned.

keras/src/optimizers/base_optimizer.py:1095 gives the constructor all that the get_config of the base has. Keras says that
such a class has to have a get_config.
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
# found = "*__init__() got an unexpected keyword argument*"
# exception = "TypeError"
# frame = "keras/src/trainers/trainer.py:compile_from_config"
# ///

import keras
from keras import layers


@keras.saving.register_keras_serializable()
class Steady(keras.optimizers.SGD):
    def __init__(self, by):
        super().__init__(learning_rate=by)


inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4)(inputs))
model.compile(optimizer=Steady(0.5), loss="mse")

clone = keras.models.clone_model(model)
