"""An array that a preprocessing layer was given is a list in the clone.

tf_keras/src/layers/preprocessing/index_lookup.py:431 and normalization.py:375 tell an array as a list, and the
layer keeps what it is given.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "structure-attribute-input-idf-weights-integerlookup-87737a79"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = ["attribute.input_idf_weights", "attribute.input_mean", "attribute.input_variance"]
# found = "list of *"
# ///

import numpy as np
import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,))
integer_lookup = layers.IntegerLookup(
    vocabulary=[1, 2, 4], output_mode="tf_idf", idf_weights=np.arange(1, 4, dtype="float32") / 2
)(inputs)
model = keras.Model(inputs, integer_lookup)

clone = keras.models.clone_model(model)
expected, found = [type(it.get_layer("integer_lookup").input_idf_weights).__name__ for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
