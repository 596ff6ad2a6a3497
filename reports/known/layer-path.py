"""The path of a layer without weights loses the name scopes that it was built in.

keras/src/layers/layer.py:231 takes the name scopes that are open when a layer is built: that of the model that it
is in, while keras/src/saving/serialization_lib.py:787 builds it as soon as it is read from its config.
"""

# /// clonediff
# generation = "keras"
# severity = "name"
# fingerprint = "structure-attribute-path-fce4669d"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.path"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
pipeline = layers.Pipeline([layers.Rescaling(2.0)])(inputs)
model = keras.Model(inputs, pipeline)

clone = keras.models.clone_model(model)
expected, found = (it.layers[1].layers[0].path for it in (model, clone))
assert found == expected, f"the path is {found} in the clone, {expected} in the model"
