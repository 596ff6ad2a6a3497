"""Small models with everything that the planted faults break."""

from __future__ import annotations

from typing import Any

from clonediff.harness.subjects import Case

HEAD = "import {keras} as keras\nfrom {keras} import layers\n"
FLOATS = {"shape": [4], "dtype": "float32", "fill": "normal"}
IDS = {"shape": [5], "dtype": "int32", "fill": "ids", "high": 9}

SEVERAL_OUTPUTS = """
def split(x, factor=3.0):
    return [x * factor, x + 1.0]

a = keras.Input((4,), name="a")
one, two = layers.Lambda(split, arguments={{"factor": 5.0}}, name="split")(a)
x = layers.Dropout(0.5, name="drop")(layers.Dense(2, name="frozen", trainable=False)(one))
y = layers.Dense(2, activity_regularizer="l2", name="y")(two)
model = keras.Model(a, [x, y], name="several")
"""
NESTED_MODEL = """
a = keras.Input((4,), name="a")
b = keras.Input((4,), name="b")
shared = layers.Dense(4, name="shared")
inner = keras.Model(b, layers.Dense(4, name="within")(shared(b)), name="inner")
model = keras.Model(a, layers.Dense(2, name="last")(layers.add([inner(a), shared(a)], name="sum")), name="nested")
"""
MASKED_MODEL = """
words = keras.Input((5,), dtype="int32", name="words")
x = layers.Embedding(9, 4, mask_zero=True, name="embed")(words)
x = layers.Lambda(lambda x: x * 2.0, mask=lambda inputs, mask: mask, name="double")(x)
model = keras.Model(words, layers.SimpleRNN(2, name="last")(x), name="masked")
"""
CUSTOM_MODEL = """
class OwnModel(keras.Model):
    def __init__(self, **kwargs):
        a = keras.Input((4,), name="a")
        super().__init__(a, layers.Dense(2, name="x")(a), **kwargs)

    def get_config(self):
        return {{"name": self.name}}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)

model = OwnModel(name="own")
"""
COMPILED_MODEL = """
a = keras.Input((4,), name="a")
model = keras.Model(a, layers.Dense(1, name="y")(a), name="compiled")
model.compile("adam", "mse")
"""

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "several": (SEVERAL_OUTPUTS, FLOATS),
    "nested": (NESTED_MODEL, FLOATS),
    "masked": (MASKED_MODEL, IDS),
    "own": (CUSTOM_MODEL, FLOATS),
    "compiled": (COMPILED_MODEL, FLOATS),
}
"""By model: its source and its inputs."""


def case(name: str, generation: str) -> Case:
    """Return the case of a model, for a generation."""
    source, spec = MODELS[name]
    return Case((HEAD + source).format(keras=generation), (spec,), seed=5)
