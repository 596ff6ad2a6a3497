"""Sources of models for the tests, in the dialect of either generation."""

from __future__ import annotations

from typing import Any

from clonediff.harness.observation import Case

FLOATS = {"shape": [3, 4], "dtype": "float32", "fill": "normal"}
STEPS = {"shape": [3, 4], "dtype": "float32", "fill": "steps"}

CHAIN = """
inputs = keras.Input((3, 4), name="inputs")
x = layers.Masking(name="masking")(inputs)
a, b = layers.Lambda(lambda t: [t, t * 2.0], mask=lambda t, m: [m, m], name="pair")(x)
a = layers.Dense(4, name="dense")(a)
x = layers.Add(name="add")([a, b])
x = layers.LayerNormalization(name="norm")(x)
x = layers.Activation("relu", name="act")(x)
model = keras.Model(inputs, x)
"""

RICH = """
def scaled(x, by=2.0):
    return x * by

first = keras.Input((3, 4), name="first")
second = keras.Input((3, 4), name="second")
shared = layers.Dense(4, name="shared", activity_regularizer="l2")
u = shared(layers.Masking(name="masking")(first))
v = shared(second)
w = shared(u)
v = layers.Lambda(scaled, arguments={"by": 3.0}, output_shape=(3, 4), name="scaled")(v)
frozen = layers.LayerNormalization(name="frozen", trainable=False)
x = frozen(layers.Add(name="add")([u, v, w]))
x = layers.Dropout(0.4, name="drop")(x)
mask = layers.Lambda(lambda t: t[:, :, 0] > 0.0, output_shape=(3,), name="mask")(second)
y = layers.LSTM(4, name="lstm")(v, mask=mask)
z = layers.BatchNormalization(name="norm")(x, training=True)
inner_in = keras.Input((4,), name="inner_in")
inner = keras.Model(inner_in, layers.Dense(2, name="inner_dense")(inner_in), name="inner")
model = keras.Model([first, second], [z, inner(y), z], name="rich")
"""

NAMED = """
x = keras.Input((3, 4), name="x")
y = layers.Activation("relu", name="act")(x)
model = keras.Model({"x": x}, {"b": layers.Dense(2, name="d")(y), "a": y}, name="named")
"""

NO_LAMBDA = """
inputs = keras.Input((3, 4), name="inputs")
x = layers.Dense(4, name="dense")(inputs)
x = layers.Dropout(0.5, name="drop")(x)
model = keras.Model(inputs, layers.BatchNormalization(name="norm")(x), name="plain")
"""


def case(body: str, generation: str = "keras", *inputs: dict[str, Any]) -> Case:
    """The model of a body on some inputs, by default on `FLOATS`."""
    keras = "keras" if generation == "keras" else "tf_keras as keras"
    head = f"import {keras}\nfrom {keras.partition(' ')[0]} import layers\n"
    return Case(head + body, inputs or (FLOATS,), batch=2, seed=7)
