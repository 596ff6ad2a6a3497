"""A loss with a dtype of its own has the default one in the clone.

keras/src/losses/loss.py:91 writes a config without dtype.
"""

# /// clonediff
# generation = "keras"
# severity = "trains"
# since = "3.9.0"
# fingerprint = "structure-attribute-loss-dtype-functional-96d9daf4"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.loss*.dtype"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
model.compile(loss=keras.losses.MeanSquaredError(dtype="float64"))

clone = keras.models.clone_model(model)
expected, found = [it.loss.dtype for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
