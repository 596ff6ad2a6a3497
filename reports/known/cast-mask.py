"""A tensor that a layer cast has no mask in the clone, where another mask is computed from it.

keras/src/layers/layer.py:889 hands the mask of a tensor on to what the layer casts it to, and
keras/src/ops/function.py:210 calls the cast anew as an operation of its own, which hands none on.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# since = "3.14.1"
# until = "3.16.0"
# link = "https://github.com/keras-team/keras/pull/21946"
# fingerprint = "masks-mask-lost-cast-bf766052"
# trial.inputs = [{ shape = [1], dtype = "int32", fill = "ids", high = 6 }]
# [[match]]
# check = "masks"
# aspect = "mask lost"
# kind = "Cast"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,), dtype="int32")
embedding = layers.Embedding(6, output_dim=1, mask_zero=True)(inputs)
activation = layers.Activation("relu", dtype="float64")(embedding)
masking = layers.Masking()(activation)
simple_rnn = layers.SimpleRNN(1)(masking)
model = keras.Model(inputs, simple_rnn)

clone = keras.models.clone_model(model)


def masks(model):
    (layer,) = [each for each in model.operations if each.name == "cast_1"]
    found = [getattr(each, "_keras_mask", None) for node in layer._inbound_nodes for each in node.outputs]
    return sorted(mask is not None for mask in found)


assert masks(clone) == masks(model), (masks(clone), masks(model))
