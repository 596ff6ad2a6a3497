"""`Variable.path` loses its parents in an `RNN` or nested model, so path filters match differently.

The path of a weight consists of the names of the objects being built around it. A layer created from a config is built
at once, outside of the layer that holds it. `LayoutMap` and `exclude_from_weight_decay` filter by path.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/backend/common/variables.py#L145
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/saving/serialization_lib.py#L787
"""

import keras
from keras import layers

inputs = keras.Input(shape=(3, 4))
outputs = layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)], name="rnn")(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
expected, found = [[weight.path for weight in it.weights] for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "names"
# verdict = "minor"
# severity = "renamed"
# loading = true
# fingerprint = "weights-weight-scope-202963d4"
# trial.inputs = [{ shape = [3, 4], fill = "steps" }]
#
# [[match]]
# check = "weights"
# aspect = "weight scope"
# inside = "?*"
#
# [[match]]
# check = "structure"
# aspect = "attribute.path"
#
# [[match]]
# check = "weights"
# aspect = "weight scope"
# inside = ""
# ///
