"""A model in which a layer was called with a NumPy dtype cannot be cloned inside another model.

keras/src/models/functional.py:759 writes the arguments of each call into the config, and
keras/src/saving/serialization_lib.py:416 refuses a NumPy dtype, which has no config.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-f6e8b37e"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# kind = ""
# found = "*Cannot serialize object * of type <class 'numpy.dtype*"
# exception = "TypeError"
# frame = "keras/src/saving/serialization_lib.py:_get_class_or_fn_config"
# ///

import keras
import numpy as np
from keras import layers


@keras.saving.register_keras_serializable()
class Cast(layers.Layer):
    def call(self, x, to=None):
        return x * 1.0


inputs = keras.Input(shape=(1,))
inner_inputs = keras.Input(shape=(1,))
cast = Cast()(inner_inputs, to=np.dtype("float16"))
inner_model = keras.Model(inner_inputs, cast)
model = keras.Model(inputs, inner_model(inputs))

clone = keras.models.clone_model(model)
