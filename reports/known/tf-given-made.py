"""On what a layer made, a functional model is cloned for ever.

tf_keras/src/models/cloning.py:203 takes the layer that made a tensor for an input layer, of which
tf_keras/src/engine/functional.py:1518 then waits for a call for ever.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "TimeoutError"
# [[match]]
# check = "made"
# aspect = "process timed out"
# exception = "timed out"
# frame = "*keras/*:*"
# given = "input_tensors"
# ///

import signal

import tf_keras as keras
from tf_keras import layers


def stop(number, frame):
    raise TimeoutError("clone_model does not end")


inputs = keras.Input(shape=(1,))
re_lu = layers.ReLU()(inputs)
model = keras.Model(inputs, re_lu)
tensor = layers.Dense(1)(keras.Input(shape=(1,)))

signal.signal(signal.SIGALRM, stop)
signal.alarm(10)
clone = keras.models.clone_model(model, input_tensors=[tensor])
signal.alarm(0)
assert clone.output is not None
