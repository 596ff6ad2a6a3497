"""Small models that between them have everything that a planted fault breaks."""

from __future__ import annotations

from typing import Any

from clonediff.harness.subjects import Case

HEAD = "import {keras} as keras\nfrom {keras} import layers\n"
FLOATS = {"shape": [4], "dtype": "float32", "fill": "normal"}
IDS = {"shape": [5], "dtype": "int32", "fill": "ids", "high": 9}

SEVERAL = """
def split(x, factor=3.0):
    return [x * factor, x + 1.0]

a = keras.Input((4,), name="a")
one, two = layers.Lambda(split, arguments={{"factor": 5.0}}, name="split")(a)
x = layers.Dropout(0.5, name="drop")(layers.Dense(2, name="frozen", trainable=False)(one))
y = layers.Dense(2, activity_regularizer="l2", name="y")(two)
model = keras.Model(a, [x, y], name="several")
"""
NESTED = """
a = keras.Input((4,), name="a")
b = keras.Input((4,), name="b")
shared = layers.Dense(4, name="shared")
inner = keras.Model(b, layers.Dense(4, name="within")(shared(b)), name="inner")
model = keras.Model(a, layers.Dense(2, name="last")(layers.add([inner(a), shared(a)], name="sum")), name="nested")
"""
MASKED = """
words = keras.Input((5,), dtype="int32", name="words")
x = layers.Embedding(9, 4, mask_zero=True, name="embed")(words)
x = layers.Lambda(lambda x: x * 2.0, mask=lambda inputs, mask: mask, name="double")(x)
model = keras.Model(words, layers.SimpleRNN(2, name="last")(x), name="masked")
"""
OWN = """
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
COMPILED = """
a = keras.Input((4,), name="a")
model = keras.Model(a, layers.Dense(1, name="y")(a), name="compiled")
model.compile("adam", "mse")
"""
CHAIN = """
def renamed(layer):
    return type(layer).from_config(dict(layer.get_config(), name=layer.name + "_2"))

def twice(tensor, name):
    return layers.Rescaling(2.0, name="twice_" + name)(tensor)

def doubled(layer, *args, **kwargs):
    return twice(layer(*args, **kwargs), layer.name)

def chain(name="a", inner="inner", within="within", x="x", after=lambda tensor, name: tensor):
    a, b = keras.Input((4,), name=name), keras.Input((4,), name="b")
    inside = keras.Model(b, layers.Dense(4, name=within)(b), name=inner)
    return keras.Model(a, after(layers.Dense(2, name=x)(after(inside(a), inner)), x), name="chain")

model = chain()
"""


def _given(asked: str, **arguments: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """A model that is cloned with arguments, which ask for another one."""
    return CHAIN, FLOATS, {"arguments": arguments, "asked": f"model = {asked}\n"}


MODELS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "several": (SEVERAL, FLOATS, {}),
    "nested": (NESTED, FLOATS, {}),
    "masked": (MASKED, IDS, {}),
    "own": (OWN, FLOATS, {}),
    "compiled": (COMPILED, FLOATS, {}),
    "other inputs": _given("chain('other')", input_tensors="[keras.Input((4,), name='other')]"),
    "renamed": _given("chain(inner='inner_2', x='x_2')", clone_function="renamed"),
    "renamed inside": _given("chain(within='within_2', x='x_2')", clone_function="renamed", recursive="True"),
    "doubled": _given("chain(after=twice)", call_function="doubled"),
}
"""The source of each model, what it takes, and more fields of its case."""


def case(name: str, generation: str) -> Case:
    """A model in the words of a generation."""
    source, given, fields = MODELS[name]
    return Case((HEAD + source).format(keras=generation), (given,), seed=5, **fields)
