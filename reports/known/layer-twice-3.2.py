"""A Sequential in which a layer stands twice cannot be cloned.

in 3.0.5, keras/src/models/cloning.py:170 makes a clone for each place of the layer, two of one name, which
keras/src/models/sequential.py:97 refuses.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "ValueError"
# until = "3.3.3"
# fingerprint = "made-raises-valueerror-ca1f5a6a"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = "*should have unique names*"
# exception = "ValueError"
# frame = "keras/src/models/sequential.py:*"
# ///

# keras 3.1.1, tensorflow 2.21.0, numpy 2.4.6, python 3.11.7

import keras
from keras import layers

dense_layer = layers.Dense(1)
model = keras.Sequential([keras.Input(shape=(1,)), dense_layer, dense_layer])

clone = keras.models.clone_model(model)
