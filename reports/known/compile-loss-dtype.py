"""`Loss.get_config` omits `dtype`, so a float64 loss becomes float32 in the clone and overflows.

https://github.com/keras-team/keras/blob/v3.15.1/keras/src/losses/loss.py#L91
"""

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Activation("relu")(inputs)
model = keras.Model(inputs, outputs)
model.compile(loss=keras.losses.MeanSquaredError(dtype="float64"))

clone = keras.models.clone_model(model)
y = np.array([[1e30]])
expected, found = [float(it.loss(y, np.zeros_like(y))) for it in (model, clone)]
assert found == expected, f"the loss of 1e30 is {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "wrong-training"
# backends = ["tensorflow"]
# loading = true
# since = "3.9.0"
# fingerprint = "structure-attribute-loss-dtype-functional-96d9daf4"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "structure"
# aspect = "attribute.loss*.dtype"
# ///
