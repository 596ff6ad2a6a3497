"""A weight that nothing depends on has a gradient of zeros where its layer was made in a RematScope, and none in
a clone that was not, or the other way round.

keras/src/ops/operation.py:34 takes the RematScope that is open when a layer is made, and no config tells it:
clone_model (keras/src/models/cloning.py:219) makes the layer in the one that is open then, if any;
tf.recompute_grad (keras/src/backend/tensorflow/core.py:856) gives zeros.
"""

# /// clonediff
# generation = "keras"
# severity = "trains"
# since = "3.9.0"
# ///

import keras
import tensorflow as tf
from keras import layers

with keras.RematScope(mode="full"):
    inputs = keras.Input(shape=(3, 4))
    first, second = layers.Bidirectional(layers.LSTM(2), merge_mode=None)(inputs)
    model = keras.Model(inputs, first)


def has_gradient(model):
    """For each weight, whether the sum of the outputs has a gradient by it."""
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(model(tf.ones((1, 3, 4)), training=True))
    return [gradient is not None for gradient in tape.gradient(total, [weight.value for weight in model.weights])]


clone = keras.models.clone_model(model)
expected, found = has_gradient(model), has_gradient(clone)
assert found == expected, f"{found} in the clone, {expected} in the model"
