"""Clones models upon given tensors, beside a release of Keras 2.2 or 2.3, and says as JSON what became of each case.

Arguments: the folder that has `inside`, and "v1" where the release runs on today's TensorFlow.
"""

from __future__ import annotations

import json
import os
import sys
import warnings

warnings.simplefilter("ignore")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, sys.argv[1])
if "v1" in sys.argv[2:]:
    from inside.v1 import give_names_back

    give_names_back()

import keras  # noqa: E402 - not before its names are given back
import numpy as np  # noqa: E402
from inside.cloners.fixed.keras2 import clone_model  # noqa: E402
from keras import layers  # noqa: E402


def single(width=3, name="x"):
    x = layers.Input((width,), name=name)
    return keras.models.Model(x, layers.Dense(2, name="dense")(x))


def two(names="ab"):
    a, b = (layers.Input((3,), name=name) for name in names)
    on = layers.Dense(2, name="on_a")(a), layers.Dense(2, name="on_b")(b)
    return keras.models.Model([a, b], layers.subtract(list(on), name="last"))


def chain(width=3):
    return keras.models.Sequential([layers.Dense(2, name="dense", input_shape=(width,))])


def given(width=3, name="given"):
    return layers.Input((width,), name=name)


def middle():
    return layers.Dense(3)(layers.Input((4,)))


CASES = {
    "a tensor": (single, given, lambda: single(name="given")),
    "a list": (single, lambda: [given()], lambda: single(name="given")),
    "an input layer": (single, lambda: [given()._keras_history[0]], lambda: single(name="given")),
    "another width": (single, lambda: [given(7)], lambda: single(7, "given")),
    "two": (two, lambda: (given(name="c"), given(name="d")), lambda: two("cd")),
    "a Sequential": (chain, lambda: [given(7)], lambda: chain(7)),
    "too few": (two, lambda: [given()], None),
    "too many": (single, lambda: [given(), given(name="more")], None),
    "a dict": (two, lambda: {"a": given(name="c"), "b": given(name="d")}, None),
    "an array": (single, lambda: np.ones((2, 3)), None),
    "a tensor of a layer": (single, middle, None),
    "a tensor of a layer, for a Sequential": (chain, middle, None),
}


def became_of(build, tensors, by_hand):
    keras.backend.clear_session()
    try:
        clone = clone_model(build(), input_tensors=tensors())
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    names = [layer.name for layer in clone.layers]
    asked = by_hand()
    asked.set_weights(clone.get_weights())
    data = [np.random.RandomState(0).randn(*[2] + list(each.shape.as_list()[1:])) for each in asked.inputs]
    same = names == [layer.name for layer in asked.layers] and np.array_equal(clone.predict(data), asked.predict(data))
    return "as by hand" if same else f"not as by hand: {names}"


for name, case in CASES.items():
    sys.stdout.write(json.dumps([name, became_of(*case)]) + "\n")
