"""A SparseCategoricalCrossentropy loss has the default axis in the clone.

keras/src/losses/losses.py:1264 writes a config without axis.
"""

# /// clonediff
# generation = "keras"
# severity = "trains"
# since = "3.9.0"
# until = "3.16.0"
# link = "https://github.com/keras-team/keras/pull/23286"
# fingerprint = "structure-compiled-loss-sparsecategoricalcrossentropy-axis-m-a035442f"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "compiled.loss.SparseCategoricalCrossentropy.axis"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
dense = layers.Dense(1)(inputs)
model = keras.Model(inputs, dense)
model.compile(loss=keras.losses.SparseCategoricalCrossentropy(axis=1))

clone = keras.models.clone_model(model)
expected, found = [it._compile_config.config["loss"]._fn_kwargs for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
