"""An input layer has the dtype policy of the time when it is cloned.

keras/src/models/cloning.py:399 makes an Input of a shape, a dtype and a name, and its policy is then the global
one.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-dtype-policy-inputlayer-40b3f278"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = ["attribute.compute_dtype", "attribute.dtype*"]
# kind = "InputLayer"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
keras.config.set_dtype_policy("mixed_bfloat16")

clone = keras.models.clone_model(model)
expected, found = model.layers[0].compute_dtype, clone.layers[0].compute_dtype
assert found == expected, f"the input layer computes in {found} in the clone, in {expected} in the model"
