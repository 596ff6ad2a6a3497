"""A Normalization that was adapted computes with other statistics in the clone, whatever its weights.

keras/src/layers/preprocessing/normalization.py:405 makes what a call uses of the weights when it is built or
adapted, and not when weights are set.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# fingerprint = "structure-attribute-mean-normalization-802eb1e8"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = ["attribute.mean", "attribute.variance"]
# kind = "Normalization"
# ///

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(1,))
normalization_layer = layers.Normalization()
normalization = normalization_layer(inputs)
model = keras.Model(inputs, normalization)
normalization_layer.adapt(np.arange(1, 3, dtype="float32").reshape(2, 1) / 2)

clone = keras.models.clone_model(model)
expected, found = [keras.ops.convert_to_numpy(it.get_layer("normalization").mean).tolist() for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
