"""A Lambda with a tensor for its mask cannot be cloned.

tf_keras/src/layers/core/lambda_layer.py:291 writes the mask as a function, and :318 refuses a tensor or a list of
tensors, though :275 accepts them as masks.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "ValueError"
# fingerprint = "made-raises-valueerror-e4dc2c43"
# trial.inputs = [{ shape = [3, 4], fill = "steps" }]
# [[match]]
# check = "made"
# found = "*Invalid input for serialization*"
# exception = "ValueError"
# frame = "*/layers/core*:_serialize_function_to_config"
# ///

import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(3, 4))
lambda_2 = layers.Lambda(lambda x: x * 2.0, mask=tf.convert_to_tensor(np.arange(6).reshape(2, 3) % 3 != 2))(inputs)
model = keras.Model(inputs, lambda_2)

clone = keras.models.clone_model(model)
