"""`losses.Huber.get_config` omits `delta`, so the clone trains with the default.

`CosineSimilarity` and `SparseCategoricalCrossentropy` omit `axis` in the same way.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/losses/losses.py#L353
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/losses/losses.py#L298
"""

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Activation("relu")(inputs)
model = keras.Model(inputs, outputs)
model.compile(loss=keras.losses.Huber(delta=2.0))

clone = keras.models.clone_model(model)
x = np.array([[5.0]], dtype="float32")
expected, found = [it.evaluate(x, np.zeros_like(x), verbose=0) for it in (model, clone)]
assert found == expected, f"the loss is {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "wrong-training"
# loading = true
# since = "3.9.0"
# until = "3.16.0"
# link = "https://github.com/keras-team/keras/pull/23286"
# fingerprint = "structure-compiled-loss-huber-delta-model-bc937156"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "structure"
# aspect = "compiled.loss.Huber.delta"
#
# [[match]]
# check = "structure"
# aspect = "compiled.loss.CosineSimilarity.axis"
#
# [[match]]
# check = "structure"
# aspect = "compiled.loss.SparseCategoricalCrossentropy.axis"
# ///
