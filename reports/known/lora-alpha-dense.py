"""A Dense whose low rank was enabled with an alpha has another alpha in the clone.

keras/src/layers/core/dense.py:156 enables the rank that a config tells without its alpha.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# until = "3.16.0"
# fingerprint = "structure-config-lora-alpha-dense-9cdb9300"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "config.lora_alpha"
# kind = "Dense"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
dense_layer = layers.Dense(1)
dense = dense_layer(inputs)
model = keras.Model(inputs, dense)
dense_layer.enable_lora(rank=1, lora_alpha=3)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("dense").get_config().get("lora_alpha") for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
