"""Inputs that suit a model: what is filled with what, and which sizes are tried."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

from clonediff.harness.inside.frameworks import framework
from clonediff.harness.inside.user_model import described
from clonediff.harness.inside.values import input_arrays
from clonediff.harness.inside.working_inputs import specs


def working_inputs(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = described(model, framework("keras"), suited=True)["suited"]
    return found


def end(name: str, dtype: str = "int32", vocabulary: int | None = None) -> dict[str, Any]:
    return {"name": name, "shape": [None, 4], "dtype": dtype, "vocabulary": vocabulary}


@pytest.mark.parametrize("name", ["padding_mask", "attention_mask", "mask", "encoder_padding_mask_1", "attentionMask"])
def test_whole_numbers_named_as_a_mask_are_0_and_1(name: str) -> None:
    (spec,) = specs([end(name, vocabulary=9)], {}, 3)
    (array,) = input_arrays([spec], 3, 0)
    assert array.dtype == np.int32
    assert set(array.flat) == {0, 1}
    assert (array[:, 0] == 1).all()


@pytest.mark.parametrize("name", ["mask_positions", "masked_ids", "unmasked", "unmask", "maskrcnn"])
def test_what_only_speaks_of_a_mask_is_no_mask(name: str) -> None:
    assert specs([end(name)], {}, 3)[0]["fill"] == "ids"


def test_a_mask_of_floats_is_left_as_it_is() -> None:
    assert "fill" not in specs([end("mask", "float32")], {}, 3)[0]


def test_the_first_size_is_taken_where_it_does() -> None:
    x = keras.Input((None, 2), name="x")
    found = working_inputs(keras.Model(x, layers.LSTM(2)(x)))
    assert (found["sizes"], found["refusals"]) == ({"x": 32}, [])


def test_nothing_is_tried_where_nothing_is_open() -> None:
    x = keras.Input((3,), name="x")
    assert "sizes" not in working_inputs(keras.Model(x, layers.Dense(1)(x)))


def test_a_reshape_says_what_it_takes() -> None:
    x = keras.Input((None,), name="x")
    found = working_inputs(keras.Model(x, layers.Reshape((7, 1))(x)))
    assert found["sizes"] == {"x": 7}
    assert [each["sizes"] for each in found["refusals"]] == [{"x": 32}]


def test_two_inputs_may_need_two_sizes() -> None:
    one, two = keras.Input((None,), name="one"), keras.Input((None,), name="two")
    model = keras.Model([one, two], [layers.Reshape((32, 1))(one), layers.Reshape((5, 1))(two)])
    found = working_inputs(model)
    assert found["sizes"] == {"one": 32, "two": 5}


def test_where_no_size_does_all_refusals_are_told() -> None:
    x = keras.Input((None, 4), name="x")
    found = working_inputs(keras.Model(x, layers.Reshape((4 * 1009,))(x)))
    assert "sizes" not in found
    assert [each["sizes"]["x"] for each in found["refusals"]][:3] == [32, 4036, 16]
    assert found["inputs"][0]["shape"] == [32, 4]


def test_what_is_not_finite_is_not_taken() -> None:
    """On JAX, what lies beyond a table is NaN."""
    x = keras.Input((None,), name="x")
    size = layers.Lambda(lambda t: keras.ops.log(9.0 - keras.ops.cast(keras.ops.shape(t)[1], "float32")) + t)
    assert working_inputs(keras.Model(x, size(x)))["sizes"] == {"x": 8}
