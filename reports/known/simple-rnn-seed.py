"""A SimpleRNN loses its seed in the clone.

keras/src/layers/rnn/simple_rnn.py:413 writes a config without the seed, which the constructor hands to the cell
(:336); https://github.com/keras-team/keras/pull/23658 adds it.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# until = "3.16.0"
# link = "https://github.com/keras-team/keras/issues/23657"
# fingerprint = "structure-config-seed-simplernncell-06b60db6"
# trial.inputs = [{ shape = [3, 4] }]
# [[match]]
# check = "structure"
# aspect = "config.seed"
# kind = "SimpleRNNCell"
# inside = "SimpleRNN"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(3, 4))
simple_rnn = layers.SimpleRNN(3, seed=7)(inputs)
model = keras.Model(inputs, simple_rnn)

clone = keras.models.clone_model(model)
expected, found = [
    next(
        each
        for each in it.get_layer("simple_rnn")._flatten_layers(include_self=False)
        if each.name == "simple_rnn_cell"
    )
    .get_config()
    .get("seed")
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
