"""Cloning warns of a layer's initializer, regularizer or constraint that is a function, though it is registered.

tf_keras/src/regularizers.py:426, constraints.py:365 and initializers/__init__.py:144 there warn of whatever is of
no class of Keras' own as it is written into a config, which clone_model makes (tf_keras/src/models/cloning.py:52);
what takes it accepts any function.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "warned-raises-userwarning-d2930059"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "warned"
# aspect = "raises"
# found = "*API should only be used for objects of type*"
# exception = "UserWarning"
# frame = [
#     "tf_keras/src/regularizers.py:serialize", "tf_keras/src/constraints.py:serialize",
#     "tf_keras/src/initializers/__init__.py:serialize",
# ]
# ///

import tensorflow as tf
import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
def magnitude(x):
    return tf.reduce_mean(tf.abs(x)) * 2.0


inputs = keras.Input(shape=(1,))
dense = layers.Dense(1, kernel_regularizer=magnitude)(inputs)
model = keras.Model(inputs, dense)

import re
import warnings

with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    clone = keras.models.clone_model(model)

said = "The `keras.regularizers.serialize()` API should only be used for objects of type `keras.regularizers.Regularizer`. Found an instance of type <class 'function'>, which may lead to improper serialization."
told = [re.sub(r"0x[0-9a-fA-F]*|_?\d+", "", str(each.message)) for each in heard]
assert not any(said in each for each in told), f"cloning warns: {told}"
