"""A frozen Discretization is not frozen in the clone.

keras/src/layers/preprocessing/discretization.py:283 writes a config without trainable, which the constructor does
not take; it has no weights to train, so that training is the same.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-trainable-ab564334"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "Discretization"
# found = "true"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
discretization_layer = layers.Discretization(bin_boundaries=[-0.5, 0.0, 0.5])
discretization_layer.trainable = False
discretization = discretization_layer(inputs)
model = keras.Model(inputs, discretization)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("discretization").trainable for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
