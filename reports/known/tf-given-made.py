"""`clone_model` with the output of a layer among `input_tensors` hangs.

The layer that produced the tensor is taken for an input layer, and reconstructing the model waits forever for a call
of that layer.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/models/cloning.py#L203
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/functional.py#L1518
"""

import signal

import tf_keras as keras
from tf_keras import layers


def stop(number, frame):
    raise TimeoutError("clone_model does not return in ten seconds")


inputs = keras.Input(shape=(1,))
outputs = layers.ReLU()(inputs)
model = keras.Model(inputs, outputs)

tensor = layers.Dense(1)(keras.Input(shape=(1,)))
signal.signal(signal.SIGALRM, stop)
signal.alarm(10)
clone = keras.models.clone_model(model, input_tensors=[tensor])
signal.alarm(0)
assert clone.output is not None, "the clone has no output"

# /// clonediff
# generation = "tf_keras"
# root = "arguments"
# verdict = "accept"
# severity = "crash"
# raises = "TimeoutError"
#
# [[match]]
# check = "made"
# aspect = "process timed out"
# exception = "timed out"
# frame = "*keras/*:*"
# given = "input_tensors"
# ///
