"""A model within a model has the dtype policy of the time when it is cloned.

keras/src/models/functional.py:442 writes a config without a policy, and keras/src/models/sequential.py:383 makes a
Sequential from its name only.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-dtype-policy-47af40c3"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = ["attribute.compute_dtype", "attribute.dtype*"]
# path = "layers*"
# kind = ["Functional", "Sequential"]
#
# [[match]]
# check = "structure"
# aspect = ["attribute.compute_dtype", "attribute.dtype*"]
# path = "layers*"
# given = "a model of one's own"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
inner_inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inner_inputs)
inner_model = keras.Model(inner_inputs, activation)
model_2 = inner_model(inputs)
model = keras.Model(inputs, model_2)
keras.config.set_dtype_policy("mixed_bfloat16")

clone = keras.models.clone_model(model)
expected, found = [
    next(
        each for each in (lambda it: getattr(it, "operations", it.layers))(it) if each.name == "functional"
    ).compute_dtype
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
