"""The layers of a frozen Bidirectional are not frozen in the clone.

tf_keras/src/layers/rnn/base_wrapper.py:71 writes the config of the wrapped layer, which
tf_keras/src/layers/rnn/bidirectional.py:135 leaves untracked, so that freezing the wrapper never reaches it; the
clone of the layer itself is frozen, so that none of them is trained before that is thawed.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "structure-trainable-in-bidirectional-21c9fb3d"
# trial.inputs = [{ shape = [3, 4], fill = "steps" }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# inside = "Bidirectional"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(3, 4))
bidirectional_layer = layers.Bidirectional(layers.GRU(2))
bidirectional_layer.trainable = False
bidirectional = bidirectional_layer(inputs)
model = keras.Model(inputs, bidirectional)

clone = keras.models.clone_model(model)
expected, found = [
    next(
        each for each in it.get_layer("bidirectional")._flatten_layers(include_self=False) if each.name == "forward_gru"
    ).trainable
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
