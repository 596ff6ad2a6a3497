"""A clone_function is asked about operations that are no layers.

keras/src/models/cloning.py:409 hands it every operation of the graph, where it is documented as "to be used to
clone each layer in the target model".
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# [[match]]
# check = "structure"
# aspect = "name"
# found = "*_copy"
# given = "clone_function"
#
# [[match]]
# check = "structure"
# aspect = "config.axis"
# found = "1"
# given = "clone_function"
#
# [[match]]
# check = "structure"
# aspect = "config.data_format"
# found = "*channels_first*"
# given = "clone_function"
#
# [[match]]
# check = "made"
# found = "*All operation names should be unique*"
# exception = "ValueError"
# frame = "keras/src/ops/function.py:map_graph"
# given = "clone_function"
# ///

import keras
from keras import ops


def clone_function(layer):
    return layer.__class__.from_config(layer.get_config())


inputs = keras.Input(shape=(1,))
abs_output = ops.abs(inputs)
model = keras.Model(inputs, abs_output)

asked = []

clone = keras.models.clone_model(model, clone_function=lambda layer: asked.append(layer) or clone_function(layer))

assert all(isinstance(each, keras.layers.Layer) for each in asked)
