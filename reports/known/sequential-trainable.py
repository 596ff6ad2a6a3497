"""`Sequential.from_config` drops `trainable`, so a frozen nested `Sequential` is unfrozen in the clone.

Layers keep their own flags, so the trainable weights differ if a layer of the frozen model was unfrozen.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/sequential.py#L383
"""

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
inner = keras.Sequential([keras.Input(shape=(4,)), layers.Dense(4)], name="inner")
inner.trainable = False
inner.layers[-1].trainable = True
model = keras.Model(inputs, inner(inputs))

clone = keras.models.clone_model(model)
expected, found = [len(it.get_layer("inner").trainable_weights) for it in (model, clone)]
assert found == expected, f"`inner` has {found} trainable weights in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "rebuilt"
# verdict = "accept"
# severity = "lost-property"
# loading = true
# fingerprint = "structure-trainable-sequential-f17db574"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# path = "layers*"
# kind = "Sequential"
# found = "true"
# ///
