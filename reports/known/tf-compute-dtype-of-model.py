"""A functional model says that it computes in the dtype of the global policy of the time when it is cloned.

tf_keras/src/models/cloning.py:242 makes the model anew, and a model has the global policy of then
(tf_keras/src/engine/functional.py:792 writes none into a config).
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "structure-attribute-dtype-policy-model-37480501"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.compute_dtype"
# path = "model.*"
# ///

import tf_keras as keras

inputs = keras.Input(shape=(1,))
model = keras.Model(inputs, inputs)
keras.mixed_precision.set_global_policy("mixed_bfloat16")

clone = keras.models.clone_model(model)
expected, found = [it.compute_dtype for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
