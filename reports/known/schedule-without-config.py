"""A model that is compiled with a schedule of a custom class without a get_config cannot be cloned.

keras/src/optimizers/schedules/learning_rate_schedule.py:61 has no config for it. Keras says that the class has to have one.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "NotImplementedError"
# link = "https://keras.io/guides/serialization_and_saving/"
# documented = true
# fingerprint = "made-raises-notimplementederror-e3633456"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "made"
# exception = "NotImplementedError"
# frame = "keras/src/optimizers/schedules/learning_rate_schedule.py:get_config"
# ///

import keras
from keras import layers


@keras.saving.register_keras_serializable()
class Slower(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        return 0.5 / (1.0 + step)


inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4)(inputs))
model.compile(optimizer=keras.optimizers.SGD(Slower()), loss="mse")

clone = keras.models.clone_model(model)
