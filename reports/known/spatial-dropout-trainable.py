"""A frozen SpatialDropout is not frozen in the clone.

keras/src/layers/regularization/spatial_dropout.py:22 writes a config without trainable; it has no weights to train,
so that training is the same.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-trainable-ab564334"
# trial.inputs = [{ shape = [3, 4] }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "SpatialDropout?D"
# found = "true"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(3, 4))
spatial_dropout_1d_layer = layers.SpatialDropout1D(0.5)
spatial_dropout_1d_layer.trainable = False
spatial_dropout_1d = spatial_dropout_1d_layer(inputs)
model = keras.Model(inputs, spatial_dropout_1d)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("spatial_dropout1d").trainable for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
