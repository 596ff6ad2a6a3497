"""What a model that somebody brought takes: its inputs, their vocabularies, and sizes that it can be called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

from clonediff.harness.inside.frameworks import framework
from clonediff.harness.inside.user_model import described, inputs_of, specs_of_sizes, working_inputs
from clonediff.harness.inside.values import input_arrays


def of_shapes(gives: Callable[..., Any], *shapes: tuple[int | None, ...]) -> Any:
    """A model whose inputs are "a", "b", ..."""
    inputs = [keras.Input(shape, name=name) for name, shape in zip("abc", shapes, strict=False)]
    return keras.Model(inputs, gives(*inputs))


def test_inputs_are_in_the_order_of_the_model() -> None:
    inputs = {"b": keras.Input((3,), name="b"), "a": keras.Input((None, 2), dtype="int32", name="a", batch_size=4)}
    model = keras.Model(inputs, [layers.Dense(1)(inputs["b"]), layers.Flatten()(inputs["a"])])
    found = inputs_of(described(model, framework("keras")))
    assert [(end["name"], end["shape"], end["dtype"]) for end in found] == [
        ("a", [4, None, 2], "int32"),
        ("b", [None, 3], "float32"),
    ]


def _nested(a: Any, b: Any) -> list[Any]:
    inner = keras.Sequential([keras.Input((4,)), layers.Embedding(6, 2)])
    return [inner(a), layers.TimeDistributed(layers.Embedding(8, 2))(b)]


VOCABULARIES = {
    "the smallest": (lambda a: [layers.Embedding(9, 3)(a), layers.Embedding(5, 3)(a)], [(4,)], 5),
    "in a model and in a wrapper": (_nested, [(4,), (2, 4)], 6),
    "of one number": (layers.Embedding(1, 3), [(4,)], 1),
    "through layers": (lambda a: layers.Embedding(7, 3)(layers.Reshape((-1,))(a)), [(4,)], 7),
}


@pytest.mark.parametrize(("gives", "shapes", "size"), VOCABULARIES.values(), ids=VOCABULARIES)
def test_floats_that_are_looked_up_are_whole_and_below_the_vocabulary(gives: Any, shapes: Any, size: int) -> None:
    specs = working_inputs(described(of_shapes(gives, *shapes), framework("keras")), framework("keras"))
    assert {(spec["fill"], spec["high"], spec["dtype"]) for spec in specs} == {("ids", size, "float32")}


FILLS = {
    **dict.fromkeys(["padding_mask", "mask", "encoder_padding_mask_1", "attentionMask"], "mask"),
    **dict.fromkeys(["mask_positions", "masked_ids", "unmask", "maskrcnn"], "ids"),
}


@pytest.mark.parametrize(("name", "fill"), FILLS.items())
def test_whole_numbers_named_as_a_mask_are_0_and_1(name: str, fill: str) -> None:
    end = {"name": name, "shape": [None, 40], "dtype": "int32"}
    (spec,) = specs_of_sizes([end], {}, 3)
    (array,) = input_arrays([spec], 3, 0)
    assert (spec["fill"], set(array.flat) == {0, 1}, array.dtype) == (fill, fill == "mask", np.int32)
    assert "fill" not in specs_of_sizes([{**end, "dtype": "float32"}], {}, 3)[0]


def _finite_below_9(a: Any) -> Any:
    """On JAX, what lies beyond a table is NaN."""
    return layers.Lambda(lambda t: keras.ops.log(9.0 - keras.ops.cast(keras.ops.shape(t)[1], "float32")) + t)(a)


SIZES = {
    "the first that does": (layers.LSTM(2), [(None, 2)], [[32, 2]]),
    "nothing is open": (layers.Dense(1), [(3,)], [[3]]),
    "a reshape says what it takes": (layers.Reshape((7, 1)), [(None,)], [[7]]),
    "each its own": (
        lambda a, b: [layers.Reshape((32, 1))(a), layers.Reshape((5, 1))(b)],
        [(None,), (None,)],
        [[32], [5]],
    ),
    "none does": (layers.Reshape((4 * 1009 * 3,)), [(None, 3)], [[32, 3]]),
    "what is not finite is not taken": (_finite_below_9, [(None,)], [[8]]),
}


@pytest.mark.parametrize(("gives", "shapes", "found"), SIZES.values(), ids=SIZES)
def test_an_open_size_is_found_by_trying(gives: Any, shapes: Any, found: Any) -> None:
    description = described(of_shapes(gives, *shapes), framework("keras"))
    assert [spec["shape"] for spec in working_inputs(description, framework("keras"))] == found
