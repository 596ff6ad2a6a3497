"""InputLayer objects are refused as input_tensors, though documented.

tf_keras/src/models/cloning.py:193, and :410 for a Sequential, ask is_keras_tensor, which raises for what is no
tensor (tf_keras/src/backend.py:1345).
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "ValueError"
# [[match]]
# check = "made"
# found = "*InputLayer'>*"
# exception = "ValueError"
# frame = "*backend.py:is_keras_tensor"
# given = "input_tensors"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)

clone = keras.models.clone_model(model, input_tensors=[layers.InputLayer(input_shape=(1,))])
