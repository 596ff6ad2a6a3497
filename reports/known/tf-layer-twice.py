"""A layer that stands twice in a Sequential stands there once in the clone.

tf_keras/src/models/cloning.py:382, and tf_keras/src/engine/sequential.py:448 for one inside a model, go by
_flatten_layers, which leaves out a layer that it has seen (tf_keras/src/engine/base_layer.py:3443): the clone
computes something else.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "computes"
# fingerprint = "structure-call-count-ac09962e"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "call count"
# found = "1 calls"
#
# [[match]]
# check = "structure"
# aspect = "config.batch_input_shape"
# kind = "InputLayer"
# given = "* called more than once"
# ///

import tf_keras as keras
from tf_keras import layers

dense_layer = layers.Dense(1)
model = keras.Sequential([keras.Input(shape=(1,)), dense_layer, dense_layer])

clone = keras.models.clone_model(model)
expected, found = [
    [len(each._network_nodes) for each in it._flatten_layers() if isinstance(each, keras.Model)]
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
