"""A frozen model is not frozen in the clone.

tf_keras/src/models/cloning.py:235, and :399 for a Sequential, make the new model without the trainable flag of the
old one; its layers keep their own flags, so that training differs only where one of them was thawed by itself.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# link = "https://github.com/keras-team/keras/issues/11022"
# fingerprint = "structure-trainable-model-042be182"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# path = "model.trainable"
# kind = ["Functional", "Model", "Sequential"]
# found = "true"
# ///

import tf_keras as keras

inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, inputs)
model.trainable = False

clone = keras.models.clone_model(model)
expected, found = [it.trainable for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
