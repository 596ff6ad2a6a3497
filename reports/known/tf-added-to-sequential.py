"""A Sequential that was given a loss or a metric by add_loss or add_metric cannot be cloned.

tf_keras/src/models/cloning.py:446 takes a tensor for the key of a dictionary, which tensors refuse to be.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-cdcf093f"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = "*unhashable*"
# exception = "TypeError"
# frame = "*keras/*engine/keras_tensor.py:__hash__"
# ///

import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

model = keras.Sequential([keras.Input(shape=(1,)), layers.Activation("relu")])
model.add_loss(tf.reduce_mean(model.outputs[0]))

clone = keras.models.clone_model(model)
