"""A lora_alpha that is given without a lora_rank is lost in the clone.

keras/src/layers/core/dense.py:387, embedding.py:364 and einsum_dense.py:474 there, and
keras/src/layers/convolutional/base_conv.py:386 write it where there is a rank only.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-lora-alpha-dense-b77ab295"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.lora_alpha"
# found = "None"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
dense = layers.Dense(1, lora_alpha=2)(inputs)
model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("dense").lora_alpha for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
