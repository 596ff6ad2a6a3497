"""A Lambda of a Python lambda in a model within the model cannot be cloned.

in 3.14.1, keras/src/models/cloning.py:219 reads a model within the model back from its config, which is done in
safe mode, so keras/src/layers/core/lambda_layer.py:191 refuses the layer.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "ValueError"
# since = "3.13.0"
# until = "3.15.0"
# fingerprint = "made-raises-valueerror-c7fe8e53"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = "*`Lambda` layer*Python lambda*"
# exception = "ValueError"
# frame = "keras/src/layers/core/lambda_layer.py:*"
# ///

# keras 3.14.1, tensorflow 2.21.0, numpy 2.4.6, python 3.11.7

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
inner_inputs = keras.Input(shape=(1,))
lambda_2 = layers.Lambda(lambda x: x)(inner_inputs)
inner_model = keras.Model(inner_inputs, lambda_2)
model_2 = inner_model(inputs)
model = keras.Model(inputs, model_2)

clone = keras.models.clone_model(model)
