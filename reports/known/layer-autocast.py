"""`Layer.get_config` omits `autocast`, so the clone of an `autocast=False` layer casts its inputs.

https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/layer.py#L1744
"""

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(1,), dtype="float64")
outputs = layers.Activation("linear", autocast=False)(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
x = np.array([[1e300]])
expected, found = float(model(x)[0, 0]), float(clone(x)[0, 0])
assert found == expected, f"1e300 becomes {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "minor"
# severity = "wrong-output"
# backends = ["tensorflow", "torch"]
# loading = true
# fingerprint = "structure-attribute-autocast-c41166f4"
# trial.inputs = [{ shape = [1], dtype = "float64" }]
#
# [[match]]
# check = "structure"
# aspect = "attribute.autocast"
# found = "True"
# ///
