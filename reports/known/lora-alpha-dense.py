"""`Dense.build` enables LoRA without `lora_alpha`, so the clone scales the LoRA update differently.

`Embedding` and the other layers with LoRA do the same.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/core/dense.py#L156
"""

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(1,))
dense = layers.Dense(1)
model = keras.Model(inputs, dense(inputs))
dense.enable_lora(rank=1, lora_alpha=3)

clone = keras.models.clone_model(model)
clone.set_weights([np.ones_like(weight) for weight in model.get_weights()])
model.set_weights(clone.get_weights())
x = np.array([[1.0]], dtype="float32")
expected, found = float(model(x)[0, 0]), float(clone(x)[0, 0])
assert found == expected, f"1.0 becomes {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# workaround = "set `lora_alpha` of the clone's layer"
# root = "class-config"
# verdict = "accept"
# severity = "wrong-output"
# loading = true
# since = "3.10.0"
# until = "3.16.0"
# fingerprint = "structure-config-lora-alpha-dense-9cdb9300"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "structure"
# aspect = "config.lora_alpha"
# kind = "Dense"
#
# [[match]]
# check = "structure"
# aspect = "config.lora_alpha"
# kind = "Embedding"
# ///
