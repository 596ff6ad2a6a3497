"""A layer with `autocast=False` casts its inputs in the clone.

keras/src/layers/layer.py:1744 writes a config without autocast.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-autocast-c41166f4"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "attribute.autocast"
# found = "True"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
dense = layers.Dense(3, autocast=False)(inputs)
model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("dense").autocast for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
