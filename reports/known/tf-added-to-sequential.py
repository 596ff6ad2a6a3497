"""`clone_model` uses tensors as dictionary keys, so a `Sequential` with `add_loss` or `add_metric` raises.

https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/models/cloning.py#L446
"""

import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

model = keras.Sequential([keras.Input(shape=(1,)), layers.Activation("relu")])
model.add_loss(tf.reduce_mean(model.outputs[0]))

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "tf_keras"
# root = "rebuilt"
# verdict = "accept"
# severity = "crash"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-cdcf093f"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# found = "*unhashable*"
# exception = "TypeError"
# frame = "*keras/*engine/keras_tensor.py:__hash__"
# ///
