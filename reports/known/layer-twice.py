"""A layer that stands twice in a Sequential inside a model stands there once in the clone.

keras/src/models/sequential.py:360 writes super().layers into the config, which leaves out a layer that it has seen
(keras/src/layers/layer.py:1716): the clone computes something else.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# fingerprint = "structure-call-count-ac09962e"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "call count"
# path = "layers['*/*'].calls"
# found = "1 calls"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
dense_layer = layers.Dense(1)
inner_model = keras.Sequential([keras.Input(shape=(1,)), dense_layer, dense_layer])
sequential = inner_model(inputs)
model = keras.Model(inputs, sequential)

clone = keras.models.clone_model(model)
expected, found = [
    [len(getattr(each, "_functional", each)._nodes) for each in it._flatten_layers() if isinstance(each, keras.Model)]
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
