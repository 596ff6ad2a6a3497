"""The layers that a layer makes have the dtype policy of the time when it is cloned.

keras/src/models/cloning.py:219 makes the layer from its config, and what its constructor makes without a dtype gets
the global policy of now (keras/src/layers/layer.py:277).
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# fingerprint = "structure-config-dtype-6d45574f"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "config.dtype"
# expected = "*'DTypePolicy'*"
# given = "inside a layer of one's own"
#
# [[match]]
# check = "structure"
# aspect = "config.dtype"
# inside = [
#     "RandomColorJitter", "RandAugment", "AugMix", "SpectralNormalization", "Bidirectional", "RNN", "LSTM",
#     "GRU", "SimpleRNN", "StackedRNNCells", "MultiHeadAttention", "GroupedQueryAttention",
# ]
# expected = "*'DTypePolicy'*"
#
# [[match]]
# check = "structure"
# aspect = "layer extra"
# kind = "Cast"
# ///

import keras
from keras import layers


@keras.saving.register_keras_serializable()
class Branches(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.branches = {name: layers.Dense(units, name=name) for name in ("plus", "minus", "by")}

    def build(self, input_shape):
        for branch in self.branches.values():
            branch.build(input_shape)
        self.built = True

    def call(self, x):
        return (self.branches["plus"](x) - self.branches["minus"](x)) * self.branches["by"](x)


inputs = keras.Input(shape=(1,))
branches = Branches(1)(inputs)
model = keras.Model(inputs, branches)
keras.config.set_dtype_policy("mixed_bfloat16")

clone = keras.models.clone_model(model)
expected, found = [
    next(each for each in it.get_layer("branches")._flatten_layers(include_self=False) if each.name == "plus")
    .get_config()
    .get("dtype")
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
