"""The layers that a layer makes have the dtype policy of the time when it is cloned.

tf_keras/src/models/cloning.py:52 makes the layer from its config, and what its constructor makes without a dtype
gets the global policy of now; in 2.4.4 so does what a MultiHeadAttention makes
(tensorflow/python/keras/layers/multi_head_attention.py:324).
"""

# /// clonediff
# generation = "tf_keras"
# severity = "computes"
# fingerprint = "structure-config-dtype-6d45574f"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "config.dtype"
# given = "inside a layer"
# ///

import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class Stack(layers.Layer):
    def __init__(self, widths, **kwargs):
        super().__init__(**kwargs)
        self.widths = widths
        self.steps = [layers.Dense(width, name=f"step_{place}") for place, width in enumerate(widths)]

    def build(self, input_shape):
        for step in self.steps:
            step.build(input_shape)
            input_shape = (*input_shape[:-1], step.units)
        self.built = True

    def call(self, x):
        for step in self.steps:
            x = step(x)
        return x

    def get_config(self):
        return {**super().get_config(), "widths": self.widths}


inputs = keras.Input(shape=(1,))
stack = Stack(widths=[1])(inputs)
model = keras.Model(inputs, stack)
keras.mixed_precision.set_global_policy("float64")

clone = keras.models.clone_model(model)
expected, found = [
    next(each for each in it.get_layer("stack")._flatten_layers(include_self=False) if each.name == "step_0")
    .get_config()
    .get("dtype")
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
