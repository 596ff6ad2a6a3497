"""An Identity that was given an object, such as a regularizer, cannot be cloned.

tf_keras/src/layers/core/identity.py:26 has no get_config, and tf_keras/src/engine/base_layer.py:826 makes a config
for a class without one only where all that it was given is numbers and strings (:761 there).
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "NotImplementedError"
# fingerprint = "made-raises-notimplementederror-5a2d7dca"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# kind = "Identity"
# exception = "NotImplementedError"
# frame = "tf_keras/src/engine/base_layer.py:get_config"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,))
identity = layers.Identity(activity_regularizer=keras.regularizers.L2())(inputs)
model = keras.Model(inputs, identity)

clone = keras.models.clone_model(model)
