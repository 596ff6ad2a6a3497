"""A frozen HashedCrossing is not frozen in the clone.

keras/src/layers/preprocessing/hashed_crossing.py:181 writes a config without trainable, which the constructor (:90)
would not hand on; it has no weights to train, so that training is the same.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-trainable-ab564334"
# trial.inputs = [{ shape = [1], dtype = "int32", fill = "ids", high = 6 }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "HashedCrossing"
# found = "true"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,), dtype="int32")
hashed_crossing_layer = layers.HashedCrossing(num_bins=3)
hashed_crossing_layer.trainable = False
hashed_crossing = hashed_crossing_layer([inputs, inputs])
model = keras.Model(inputs, hashed_crossing)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("hashed_crossing").trainable for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
