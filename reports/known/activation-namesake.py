"""`activations.serialize` saves `ops.gelu` as `"gelu"`, so the clone gives different outputs.

The config holds only the name of a function if `keras.activations` has a function of the same name. `ops.gelu`
approximates by default, `activations.gelu` does not. A user's function of such a name is replaced in the same way,
unless it is registered.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/activations/__init__.py#L102
"""

import keras
import numpy as np
from keras import layers
from keras import ops

inputs = keras.Input(shape=(1,))
outputs = layers.Activation(ops.gelu)(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
x = np.array([[1.0]], dtype="float32")
expected, found = float(model(x)[0, 0]), float(clone(x)[0, 0])
assert found == expected, f"gelu of 1.0 is {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "file-format"
# verdict = "accept"
# severity = "wrong-output"
# loading = true
# until = "3.16.0"
# link = "https://github.com/keras-team/keras/issues/10052"
# fingerprint = "structure-attribute-activation-activation-01e43b1d"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "structure"
# aspect = "attribute.*activation"
# found = [
#     "function celu *", "function elu *", "function exponential *", "function gelu *", "function glu *",
#     "function hard_shrink *", "function hard_sigmoid *", "function hard_silu *", "function hard_swish *",
#     "function hard_tanh *", "function leaky_relu *", "function linear *", "function log_sigmoid *",
#     "function log_softmax *", "function mish *", "function relu *", "function relu6 *", "function selu *",
#     "function sigmoid *", "function silu *", "function soft_shrink *", "function softmax *", "function softplus *",
#     "function softsign *", "function sparse_plus *", "function sparse_sigmoid *", "function sparsemax *",
#     "function squareplus *", "function swish *", "function tanh *", "function tanh_shrink *",
#     "function threshold *",
# ]
# given = "a function of the same name"
# ///
