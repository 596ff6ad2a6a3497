"""The layers inside a custom layer that was frozen are trainable in the clone.

keras/src/layers/layer.py:312 keeps the trainable flag of the config for the layer alone, before its constructor
makes the layers inside; the setter at :644, which the original was frozen with, hands it on to them.
"""

# /// clonediff
# generation = "keras"
# severity = "trains"
# fingerprint = "structure-trainable-in-a-layer-of-one-s-own-44a927dc"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# found = "true"
# given = "inside a layer of one's own"
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


inputs = keras.Input(shape=(4,))
branches_layer = Branches(4)
branches_layer.trainable = False
branches = branches_layer(inputs)
model = keras.Model(inputs, branches)

clone = keras.models.clone_model(model)
expected, found = [
    next(each for each in it.get_layer("branches")._flatten_layers(include_self=False) if each.name == "plus").trainable
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
