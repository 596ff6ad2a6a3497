"""A Discretization or a HashedCrossing loses its dtype policy in the clone.

keras/src/layers/preprocessing/discretization.py:290, and hashed_crossing.py:186 there, write the dtype of variables
into the config in the place of the policy.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-dtype-policy-47af40c3"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = ["attribute.compute_dtype", "attribute.dtype_policy*"]
# kind = ["Discretization", "HashedCrossing"]
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
discretization = layers.Discretization(bin_boundaries=[0.0], dtype="mixed_bfloat16")(inputs)
model = keras.Model(inputs, discretization)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("discretization").compute_dtype for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
