"""`Variable.trainable` set on a single weight is lost, so the weight trains in the clone.

The config of a layer says whether the layer is trainable, and nothing of its weights.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/layer.py#L1748
"""

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
dense = layers.Dense(1)
model = keras.Model(inputs, dense(inputs))
dense.kernel.trainable = False

clone = keras.models.clone_model(model)
expected, found = [[weight.path for weight in it.trainable_weights] for it in (model, clone)]
assert found == expected, f"{found} are trainable in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "settings"
# verdict = "minor"
# severity = "trains"
# loading = true
# fingerprint = "weights-weight-trainable-4eafd956"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "weights"
# aspect = "weight trainable"
# ///
