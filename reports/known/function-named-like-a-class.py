"""A layer cannot be cloned whose initializer, regularizer or constraint is a function with the name of one of
Keras' classes, such as ops.ones.

keras/src/saving/serialization_lib.py:619 takes the function for the class of that name, with the name as its
config, which :740 refuses; before 3.15.0 the class itself refused it.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# since = "3.15.0"
# until = "3.16.0"
# fingerprint = "made-raises-typeerror-b7d55d89"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# kind = ""
# found = [
#     "*Expected 'config' to be a dict for Ones,*", "*Expected 'config' to be a dict for Zeros,*",
#     "*Expected 'config' to be a dict for Identity,*", "*Expected 'config' to be a dict for L1,*",
#     "*Expected 'config' to be a dict for L2,*", "*Expected 'config' to be a dict for UnitNorm,*",
# ]
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:deserialize_keras_object"
# ///

import keras
from keras import layers
from keras import ops

inputs = keras.Input(shape=(1,))
dense = layers.Dense(1, bias_initializer=ops.ones)(inputs)
model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
