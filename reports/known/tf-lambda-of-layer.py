"""A layer cannot be cloned whose activation, initializer, regularizer or constraint is a Python lambda.

tf_keras/src/models/cloning.py:52 makes the layer from its config, in which a lambda is its code, which
tf_keras/src/saving/legacy/serialization.py:366 takes for a class of the name __lambda__, or for none. A recurrent layer,
as in tf_keras/src/layers/rnn/simple_rnn.py:511, lets that ValueError through; others make a TypeError of it.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "TypeError"
# [[match]]
# check = "made"
# found = "*Improper config format for {'value'*"
# exception = "*Error"
# frame = "*/saving/legacy/serialization.py:class_and_config_for_serialized_keras_object"
# ///

import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,))
dense = layers.Dense(1, bias_initializer=lambda shape, dtype=None: tf.ones(shape, dtype=dtype) / 2.0)(inputs)
model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
