"""A layer with `autocast=False` casts its inputs in the clone.

tf_keras/src/engine/base_layer.py:806 writes the dtype into a config, and no autocast.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "computes"
# [[match]]
# check = "structure"
# aspect = "attribute._autocast"
# expected = "False"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(2, 2, 2, 1), dtype="bfloat16")
average_pooling_3d = layers.AveragePooling3D(pool_size=2, autocast=False)(inputs)
model = keras.Model(inputs, average_pooling_3d)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("average_pooling3d")._autocast for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
