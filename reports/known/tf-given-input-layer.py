"""`clone_model` rejects `InputLayer` objects in `input_tensors` with a `ValueError`, although they are documented.

https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/models/cloning.py#L193
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/backend.py#L1345
"""

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Activation("relu")(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model, input_tensors=[layers.InputLayer(input_shape=(1,))])

# /// clonediff
# generation = "tf_keras"
# root = "arguments"
# verdict = "accept"
# severity = "crash"
# raises = "ValueError"
# link = "https://github.com/tensorflow/tensorflow/issues/40617"
#
# [[match]]
# check = "made"
# found = "*InputLayer'>*"
# exception = "ValueError"
# frame = "*backend.py:is_keras_tensor"
# given = "input_tensors"
# ///
