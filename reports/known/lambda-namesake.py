"""A Lambda whose function has the name of a registered one has the registered function in the clone.

keras/src/saving/serialization_lib.py:875 takes the first registered function whose name ends like that of the
function, whichever package it is of, without a word.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# until = "3.16.0"
# fingerprint = "structure-config-function-lambda-f58559e8"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "config.function"
# kind = "Lambda"
# given = "a function of the same name"
# ///

import keras
from keras import layers


@keras.saving.register_keras_serializable("other")
def transform(x):
    return x * 3.0


def transform(x):
    return x * 2.0


inputs = keras.Input(shape=(1,))
lambda_2 = layers.Lambda(transform)(inputs)
model = keras.Model(inputs, lambda_2)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("lambda").function.__code__ for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
