"""A function that is registered under the name of an earlier one takes its place in the clone.

keras/src/saving/object_registration.py:151 keeps one object for a name, and the config of a layer or of what a model
is compiled with has only the name.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-kernel-initializer-dense-4d6031e7"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = ["structure", "weights"]
# given = "a function of the same name"
# ///

import keras
from keras import layers
from keras import ops


def made(by):
    @keras.saving.register_keras_serializable()
    def halves(shape, dtype=None):
        return ops.ones(shape, dtype=dtype) / by

    return halves


first, second = made(3.0), made(2.0)
inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4, kernel_initializer=first)(inputs))

clone = keras.models.clone_model(model)
assert clone.layers[1].kernel_initializer is first, "the clone has the function that was registered later"
