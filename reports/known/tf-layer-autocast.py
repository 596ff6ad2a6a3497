"""`Layer.get_config` omits `autocast`, so the clone of an `autocast=False` layer casts its inputs.

https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/base_layer.py#L806
"""

import numpy as np
import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,), dtype="float64")
outputs = layers.Activation("linear", autocast=False)(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
x = np.array([[1e300]])
expected, found = float(model(x)[0, 0]), float(clone(x)[0, 0])
assert found == expected, f"1e300 becomes {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "tf_keras"
# root = "class-config"
# verdict = "minor"
# severity = "wrong-output"
# loading = true
# trial.inputs = [{ shape = [1], dtype = "float64" }]
#
# [[match]]
# check = "structure"
# aspect = "attribute._autocast"
# expected = "False"
# ///
