"""`Sequential.get_config` lists a repeated layer once, so a nested clone skips its second call.

The config is created from `Layer.layers`, which leaves out duplicates. The weights fit, so there is no warning.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/sequential.py#L360
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/layer.py#L1716
"""

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(1,))
double = layers.Dense(1, kernel_initializer=keras.initializers.Constant(2.0))
inner = keras.Sequential([keras.Input(shape=(1,)), double, double])
model = keras.Model(inputs, inner(inputs))

clone = keras.models.clone_model(model)
clone.set_weights(model.get_weights())
x = np.array([[1.0]], dtype="float32")
expected, found = float(model(x)[0, 0]), float(clone(x)[0, 0])
assert found == expected, f"1.0 becomes {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "file-format"
# verdict = "accept"
# severity = "wrong-output"
# loading = true
# fingerprint = "structure-call-count-ac09962e"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "structure"
# aspect = "call count"
# path = "layers['*/*'].calls"
# found = "1 calls"
# ///
