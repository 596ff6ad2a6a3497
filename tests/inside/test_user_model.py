"""What the child says of a model that somebody brought."""

from __future__ import annotations

from typing import Any

import keras
from keras import layers

from clonediff.harness.inside.frameworks import framework
from clonediff.harness.inside.user_model import described, vocabularies


def seen(model: Any) -> dict[str, Any]:
    return described(model, framework("keras"), suited=False)


def vocabulary_of(model: Any) -> dict[str, int | None]:
    return {each["name"]: each["vocabulary"] for each in seen(model)["inputs"]}


def test_inputs_are_told_in_the_order_of_the_model() -> None:
    inputs = {"b": keras.Input((3,), name="b"), "a": keras.Input((None, 2), dtype="int32", name="a", batch_size=4)}
    model = keras.Model(inputs, [layers.Dense(1)(inputs["b"]), layers.Flatten()(inputs["a"])])
    told = seen(model)
    assert [(each["name"], each["shape"], each["dtype"]) for each in told["inputs"]] == [
        ("a", [4, None, 2], "int32"),
        ("b", [None, 3], "float32"),
    ]


def test_a_vocabulary_reaches_back_through_layers_to_its_input_only() -> None:
    ids, other = keras.Input((4,), dtype="int32", name="ids"), keras.Input((2,), dtype="int32", name="other")
    looked = layers.GlobalAveragePooling1D()(layers.Embedding(7, 3)(layers.Reshape((-1,))(ids)))
    model = keras.Model([ids, other], layers.Concatenate()([looked, other]))
    assert vocabulary_of(model) == {"ids": 7, "other": None}


def test_the_smallest_vocabulary_counts() -> None:
    ids = keras.Input((4,), name="ids")
    model = keras.Model(ids, layers.Add()([layers.Embedding(9, 3)(ids), layers.Embedding(5, 3)(ids)]))
    assert vocabulary_of(model) == {"ids": 5}


def test_a_vocabulary_is_seen_in_a_nested_model_and_in_a_wrapper() -> None:
    inner = keras.Sequential([keras.Input((4,)), layers.Embedding(6, 2)])
    ids, steps = keras.Input((4,), name="ids"), keras.Input((2, 4), name="steps")
    model = keras.Model([ids, steps], [inner(ids), layers.TimeDistributed(layers.Embedding(8, 2))(steps)])
    assert vocabulary_of(model) == {"ids": 6, "steps": 8}


def test_what_comes_out_of_a_vocabulary_is_not_looked_up_in_the_next() -> None:
    chain = [{"kind": "InputLayer", "inside": -1}]
    chain += [{"kind": "Embedding", "inside": -1, "calls": [_call(before)]} for before in (0, 1)]
    assert vocabularies(chain, [None, 9, 3]) == {0: 9}


def _call(layer: int) -> dict[str, Any]:
    return {"args": [{"tensor": [layer, 0, 0]}], "kwargs": {}}
