"""Cloning a model within a model warns of a layer of one's own that holds another and has no build.

keras/src/saving/serialization_lib.py:787 builds each layer of a model within the model as soon as it is read from
its config, and keras/src/layers/layer.py:431 warns of one that has no build of its own and holds a layer which no
call has built yet.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "warned-raises-userwarning-a6a537dd"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "warned"
# aspect = "raises"
# found = "*does not have a `build()` method implemented*"
# exception = "UserWarning"
# frame = "keras/src/layers/layer.py:build"
# ///

import keras
from keras import layers


@keras.saving.register_keras_serializable()
class Louder(layers.Layer):
    def __init__(self, depth=1, **kwargs):
        super().__init__(**kwargs)
        self.depth = depth
        self._register_call_context_args("gain")
        self.inner = Louder(depth - 1, name="inner") if depth else None
        self.supports_masking = True

    def call(self, x, gain=None):
        x = x * 1.0 if gain is None else x * gain
        return x if self.inner is None else self.inner(x)

    def get_config(self):
        return {**super().get_config(), "depth": self.depth}


inputs = keras.Input(shape=(1,))
inner_inputs = keras.Input(shape=(1,))
louder = Louder()(inner_inputs)
inner_model = keras.Model(inner_inputs, louder)
sequential = inner_model(inputs)
model = keras.Model(inputs, sequential)

import re
import warnings

with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    clone = keras.models.clone_model(model)

said = "`build()` was called on layer 'louder', however the layer does not have a `build()` method implemented and it looks like it has unbuilt state. This"
told = [re.sub(r"0x[0-9a-fA-F]*|_?\d+", "", str(each.message)) for each in heard]
assert not any(said in each for each in told), f"cloning warns: {told}"
