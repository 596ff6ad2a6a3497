"""A frozen model inside a model is not frozen in the clone.

tf_keras/src/engine/training.py:3328 makes the inner model without the trainable flag of its config; its layers keep
their own flags, so that training differs only where one of them was thawed by itself.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "structure-trainable-functional-d148cadb"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# path = "layers*"
# kind = ["Functional", "Model"]
# found = "true"
# ///

import tf_keras as keras

inputs = keras.Input(shape=(4,))
inner_inputs = keras.Input(shape=(4,))
inner_model = keras.Model(inner_inputs, inner_inputs)
inner_model.trainable = False
model_2 = inner_model(inputs)
model = keras.Model(inputs, model_2)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("model").trainable for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
