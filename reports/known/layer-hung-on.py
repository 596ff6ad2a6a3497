"""A layer that is an attribute of a model, and no part of its graph, is missing in the clone.

keras/src/models/cloning.py:414 makes the clone of inputs, outputs and a name: what was set on the model is set on
no clone.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# since = "3.15.0"
# fingerprint = "structure-layer-missing-dense-37e2b3fa"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "layer missing"
# given = "a layer that the graph does not call"
#
# [[match]]
# check = "structure"
# aspect = "attribute.*"
# expected = ["a layer", "Dense"]
# found = "nothing"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
model.extra = layers.Dense(4)

clone = keras.models.clone_model(model)
expected, found = [sorted(type(each).__name__ for each in it._flatten_layers()) for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
