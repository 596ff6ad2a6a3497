"""What was set on a model, or on a layer, after it was made is lost in the clone.

keras/src/models/cloning.py:414 makes the clone of a functional model anew, and :219 a layer from its config: neither
looks at other attributes.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-extra-functional-3deae3f2"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "attribute.*"
# found = "nothing"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4)(inputs))
model.extra = 3

clone = keras.models.clone_model(model)
assert getattr(clone, "extra", None) == model.extra, "the clone has no `extra`"
