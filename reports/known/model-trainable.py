"""`clone_model` drops `trainable=False` of a Functional model, so its unfrozen layers train.

The new model is created without the flag; only the clone of a `Sequential` gets it. Layers keep their own flags, so a
layer that was unfrozen inside the frozen model trains. Nested models lose the flag in a recursive clone.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L414
"""

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
outputs = layers.Dense(1)(inputs)
model = keras.Model(inputs, outputs)
model.trainable = False
model.layers[-1].trainable = True

clone = keras.models.clone_model(model)
expected, found = len(model.trainable_weights), len(clone.trainable_weights)
assert found == expected, f"{found} trainable weights in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "rebuilt"
# verdict = "accept"
# severity = "wrong-training"
# link = "https://github.com/keras-team/keras/issues/11022"
# fingerprint = "structure-trainable-model-042be182"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# path = "model.trainable"
# kind = "Functional"
# found = "true"
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "Functional"
# found = "true"
# given = "recursive"
# ///
