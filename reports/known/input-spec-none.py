"""A layer whose input_spec was set to None, so that it takes what it did not, has one again in the clone.

keras/src/models/cloning.py:219 makes the layer of its config, and its build sets the input_spec.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-input-spec-09f3e257"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "attribute.input_spec"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4)(inputs))
model.layers[1].input_spec = None

clone = keras.models.clone_model(model)
assert clone.layers[1].input_spec is None, "the layer of the clone has an input_spec"
