"""`Functional.get_config` cannot serialize a NumPy dtype among call arguments, so cloning a nested model raises.

A nested model is cloned through its config, which includes the arguments of each call. A dtype that is a string can be
serialized.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/functional.py#L759
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/saving/serialization_lib.py#L416
"""

import keras
import numpy as np
from keras import layers
from keras import ops


@keras.saving.register_keras_serializable()
class Cast(layers.Layer):
    def call(self, x, to=None):
        return ops.cast(x, to)


x = keras.Input(shape=(1,))
inner = keras.Model(x, Cast()(x, to=np.dtype("float16")))
inputs = keras.Input(shape=(1,))
model = keras.Model(inputs, inner(inputs))

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "operations"
# verdict = "minor"
# severity = "crash"
# loading = true
# raises = "TypeError"
# backends = ["tensorflow", "torch"]
# fingerprint = "made-raises-typeerror-f6e8b37e"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# kind = ""
# found = "*Cannot serialize object * of type <class 'numpy.dtype*"
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:_get_class_or_fn_config"
# ///
