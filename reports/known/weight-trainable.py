"""A weight that was frozen by itself, or thawed with its layer, is not so in the clone.

keras/src/layers/layer.py:1748 writes whether a layer is trainable, and nothing of its weights.
"""

# /// clonediff
# generation = "keras"
# severity = "trains"
# fingerprint = "weights-weight-trainable-4eafd956"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "weights"
# aspect = "weight trainable"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
dense_layer = layers.Dense(1)
dense = dense_layer(inputs)
model = keras.Model(inputs, dense)
dense_layer.kernel.trainable = False

clone = keras.models.clone_model(model)
expected, found = [
    [(each.path, tuple(each.shape), str(each.dtype), each.trainable) for each in it.weights] for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
