"""A RandomWidth, RandomHeight or RandomRotation cannot be cloned in a session of other floats than it was called in.

tf_keras/src/models/cloning.py:230 calls each layer anew; tf_keras/src/layers/preprocessing/image_preprocessing.py:1686
multiplies a random number in the floats of the session by a width that is cast to float32, as :1568 does with a height,
and the rotation at :829 with an angle.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-in-a-call-typeerror-d7f77323"
# trial.inputs = [{ shape = [4, 4, 3] }]
# [[match]]
# check = "made"
# exception = "TypeError"
# frame = "tf_keras/src/layers/preprocessing/image_preprocessing.py:*"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(4, 4, 3))
random_width = layers.RandomWidth(0.25)(inputs)
model = keras.Model(inputs, random_width)
keras.backend.set_floatx("float64")

clone = keras.models.clone_model(model)
