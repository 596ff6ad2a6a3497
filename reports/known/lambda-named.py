"""A Lambda or an activation of a function that is not registered cannot be cloned, nor a model two models deep
whose class is not.

keras/src/layers/core/lambda_layer.py:209, as keras/src/activations/__init__.py:121, looks the function up by its
name, which keras/src/saving/serialization_lib.py:899 finds for registered ones only; so it does the class of a
model in the config of one that keras/src/models/cloning.py:219 clones.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# link = "https://keras.io/guides/serialization_and_saving/"
# documented = true
# fingerprint = "made-raises-typeerror-66b9b913"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# kind = ""
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:_retrieve_class_or_fn"
#
# [[match]]
# check = "made"
# found = "*Could not locate function '*"
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:_retrieve_class_or_fn"
#
# [[match]]
# check = "made"
# kind = ["Functional", "Sequential"]
# found = "*Could not locate class '*"
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:_retrieve_class_or_fn"
# ///

import keras
from keras import layers


def transform(x):
    return x * 2.0


inputs = keras.Input(shape=(1,))
lambda_2 = layers.Lambda(transform)(inputs)
model = keras.Model(inputs, lambda_2)

clone = keras.models.clone_model(model)
