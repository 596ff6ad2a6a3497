"""`initializers.get` deserializes `ops.ones` as the class `Ones`, so cloning raises.

Deserialization mistakes a function for the Keras class of that name, and passes the name of the function to the class
as its config.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/saving/serialization_lib.py#L619
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/saving/serialization_lib.py#L740
"""

import keras
from keras import layers
from keras import ops

inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1, bias_initializer=ops.ones)(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "file-format"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "TypeError"
# until = "3.16.0"
# fingerprint = "made-raises-typeerror-b7d55d89"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# kind = ""
# found = [
#     "*to be a dict for A*", "*to be a dict for B*", "*to be a dict for C*", "*to be a dict for D*",
#     "*to be a dict for E*", "*to be a dict for Fa*", "*to be a dict for Fl*", "*to be a dict for Ful*",
#     "*to be a dict for G*", "*to be a dict for H*", "*to be a dict for I*", "*to be a dict for J*",
#     "*to be a dict for K*", "*to be a dict for L*", "*to be a dict for M*", "*to be a dict for N*",
#     "*to be a dict for O*", "*to be a dict for P*", "*to be a dict for Q*", "*to be a dict for R*",
#     "*to be a dict for S*", "*to be a dict for T*", "*to be a dict for U*", "*to be a dict for V*",
#     "*to be a dict for W*", "*to be a dict for X*", "*to be a dict for Y*", "*to be a dict for Z*",
# ]
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:deserialize_keras_object"
# ///
