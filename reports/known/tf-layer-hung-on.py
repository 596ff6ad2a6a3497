"""A layer that is an attribute of a model, and no part of its graph, has no weights in the clone.

tf_keras/src/models/cloning.py:246 counts it among the layers that lead to no output, whose clones are taken along
as they were made: not built, and under no attribute.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# fingerprint = "weights-weight-missing-dense-5d158fb2"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.*"
# expected = "a variable"
# found = "nothing"
# given = "a layer that the graph does not call"
#
# [[match]]
# check = "weights"
# aspect = "weight missing"
# given = "a layer that the graph does not call"
#
# [[match]]
# check = "structure"
# aspect = "attribute.*"
# expected = ["a layer", "Dense"]
# found = "nothing"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
model.extra = layers.Dense(4)
model.extra.build((None, 4))

clone = keras.models.clone_model(model)
expected, found = [hasattr(it.get_layer("dense"), "bias") for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
