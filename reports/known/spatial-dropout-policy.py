"""`SpatialDropout1D.get_config` saves the variable dtype as the dtype policy, so bfloat16 outputs become float32.

It does not call `super().get_config()`, so `trainable` is lost, too. `Discretization` and `HashedCrossing` do the same.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/regularization/spatial_dropout.py#L27
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/preprocessing/discretization.py#L283
"""

import keras
from keras import layers

inputs = keras.Input(shape=(3, 4))
outputs = layers.SpatialDropout1D(0.5, dtype="mixed_bfloat16")(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
expected, found = model.output.dtype, clone.output.dtype
assert found == expected, f"the output is {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "wrong-output"
# loading = true
# fingerprint = "structure-attribute-dtype-policy-47af40c3"
# trial.inputs = [{ shape = [3, 4] }]
#
# [[match]]
# check = "structure"
# aspect = ["attribute.compute_dtype", "attribute.dtype_policy*"]
# kind = "SpatialDropout?D"
#
# [[match]]
# check = "structure"
# aspect = ["attribute.compute_dtype", "attribute.dtype_policy*"]
# kind = ["Discretization", "HashedCrossing"]
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "SpatialDropout?D"
# found = "true"
# ///
