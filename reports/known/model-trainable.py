"""A frozen model is not frozen in the clone.

keras/src/models/cloning.py:414 makes the new model without the trainable flag of the old one; its layers keep their
own flags, so that training differs only where one of them was thawed by itself.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# since = "3.3.3"
# link = "https://github.com/keras-team/keras/issues/11022"
# fingerprint = "structure-trainable-model-042be182"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# path = "model.trainable"
# kind = "Functional"
# found = "true"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
re_lu = layers.ReLU()(inputs)
model = keras.Model(inputs, re_lu)
model.trainable = False

clone = keras.models.clone_model(model)
expected, found = [it.trainable for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
