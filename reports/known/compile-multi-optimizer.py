"""The optimizers of a MultiOptimizer are built in the clone, before a first step.

keras/src/trainers/trainer.py:1020 builds the optimizer of a clone, and compile does not.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-optimizer-optimizer-map-default-optimize-53df5182"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "attribute.optimizer._optimizer_map*"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4)(inputs))
each = keras.optimizers.OptimizerMap(keras.optimizers.SGD(0.5), {".*kernel": keras.optimizers.Adam(0.5)})
model.compile(optimizer=keras.optimizers.MultiOptimizer(each), loss="mse")

clone = keras.models.clone_model(model)
expected, found = [it.optimizer._optimizer_map._default_optimizer.built for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
