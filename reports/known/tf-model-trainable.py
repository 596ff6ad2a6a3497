"""`clone_model` drops `trainable=False` of the model, so layers unfrozen inside it train.

The new model is created without the flag, and so are nested models. Layers keep their own flags.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/models/cloning.py#L235
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/models/cloning.py#L399
"""

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(4,))
outputs = layers.Dense(1)(inputs)
model = keras.Model(inputs, outputs)
model.trainable = False
model.layers[-1].trainable = True

clone = keras.models.clone_model(model)
expected, found = len(model.trainable_weights), len(clone.trainable_weights)
assert found == expected, f"{found} trainable weights in the clone, {expected} in the model"

# /// clonediff
# generation = "tf_keras"
# root = "rebuilt"
# verdict = "accept"
# severity = "wrong-training"
# loading = true
# link = "https://github.com/keras-team/keras/issues/11022"
# fingerprint = "structure-trainable-model-042be182"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# path = "model.trainable"
# kind = ["Functional", "Model", "Sequential"]
# found = "true"
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# path = "layers*"
# kind = ["Functional", "Model"]
# found = "true"
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# path = "layers*"
# kind = "Sequential"
# found = "true"
# ///
