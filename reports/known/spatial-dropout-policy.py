"""A SpatialDropout loses its dtype policy in the clone.

keras/src/layers/regularization/spatial_dropout.py:27 writes the dtype of variables into the config in the place of
the policy.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# fingerprint = "structure-attribute-dtype-policy-47af40c3"
# trial.inputs = [{ shape = [3, 4] }]
# [[match]]
# check = "structure"
# aspect = ["attribute.compute_dtype", "attribute.dtype_policy*"]
# kind = "SpatialDropout?D"
# ///

import keras
from keras import layers

keras.config.set_dtype_policy("mixed_bfloat16")
inputs = keras.Input(shape=(3, 4))
spatial_dropout_1d = layers.SpatialDropout1D(0.5)(inputs)
model = keras.Model(inputs, spatial_dropout_1d)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("spatial_dropout1d").compute_dtype for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
