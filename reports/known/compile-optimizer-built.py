"""The optimizer of a compiled model is built in the clone, though that of the model is not.

keras/src/trainers/trainer.py:1020 builds the optimizer of each model that is compiled from a config.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# since = "3.9.0"
# fingerprint = "structure-attribute-optimizer-adam-velocities-functional-63b3c5a2"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.optimizer.built"
# found = "True"
#
# [[match]]
# check = "structure"
# aspect = ["attribute.optimizer.*momentums", "attribute.optimizer.*velocities"]
# found = ["list of *", "dict of *"]
#
# [[match]]
# check = "structure"
# aspect = "attribute.optimizer.adam_*"
# expected = "nothing"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
dense = layers.Dense(1)(inputs)
model = keras.Model(inputs, dense)
model.compile(optimizer=keras.optimizers.Muon())

clone = keras.models.clone_model(model)
expected, found = [hasattr(it.optimizer, "adam_velocities") for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
