"""An Identity initializer loses its gain in the clone.

keras/src/initializers/constant_initializers.py:135 takes a gain, and the class has no get_config that tells it
(keras/src/initializers/initializer.py:74).
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-kernel-initializer-gain-dense-62d4b454"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.*initializer.gain"
# found = "1.0"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
dense = layers.Dense(1, kernel_initializer=keras.initializers.Identity(gain=0.5))(inputs)
model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("dense").kernel_initializer.gain for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
