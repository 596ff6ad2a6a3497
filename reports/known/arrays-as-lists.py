"""An array that a preprocessing layer was given is a list in the clone.

keras/src/layers/preprocessing/index_lookup.py:397 and normalization.py:454 tell arrays as lists, and the layer
keeps what it is given.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-input-mean-normalization-0ec9a765"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = ["attribute.input_idf_weights", "attribute.input_mean", "attribute.input_variance"]
# found = "list of *"
# ///

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(4,))
normalization = layers.Normalization(
    mean=np.arange(1, 5, dtype="float32") / 2, variance=np.arange(1, 5, dtype="float32") / 2
)(inputs)
model = keras.Model(inputs, normalization)

clone = keras.models.clone_model(model)
expected, found = [type(it.get_layer("normalization").input_mean).__name__ for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
