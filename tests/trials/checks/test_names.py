"""A name is compared where it says something."""

from __future__ import annotations

import msgspec
import pytest

from harness.subjects.observation import Asked, Clone, LayerSeen, Observation
from harness.trials.checks.pairing import Pair
from harness.trials.checks.structure import structure

from .making import faithful, gives, layer, observed


def _model(inner: str) -> Observation:
    inside: tuple[LayerSeen, ...] = (
        layer(inner, "InputLayer", 2, inside=1),
        layer("dense", "Dense", 3, gives([2, 0, 0]), inside=1),
    )
    return observed([layer("input", "InputLayer", 0), layer("scale", "Sequential", 1, gives([0, 0, 0])), *inside], [1])


def _clone(inner: str, *, by_function: bool) -> Clone:
    return msgspec.structs.replace(faithful(_model(inner)), asked=Asked() if by_function else None)


@pytest.mark.parametrize(
    ("name", "by_function", "told"),
    [
        pytest.param("input_layer_3", True, False, id="numbered in what a function gave"),
        pytest.param("input_layer_3", False, True, id="no function gave it"),
        pytest.param("keras_tensor_3", True, True, id="another name"),
    ],
)
def test_numbers_of_inputs_in_what_a_clone_function_gave_say_nothing(name: str, by_function: bool, told: bool) -> None:
    found = structure(Pair(_model("input_layer_2"), _clone(name, by_function=by_function)))
    assert {each.aspect for each in found} == ({"name"} if told else set())


def _operation(name: str, kind: str, *, asked: bool) -> Observation:
    cast = layer(name, kind, 1, gives([0, 0, 0]))
    if kind != "Cast":
        cast = msgspec.structs.replace(cast, config={**cast.config, "trainable": "True"})
    model = observed([layer("input", "InputLayer", 0), cast], [1])
    return msgspec.structs.replace(model, cloned=model.shape) if asked else model


@pytest.mark.parametrize(
    ("name", "kind", "asked", "told"),
    [
        pytest.param("cast_1", "Cast", True, False, id="numbered in the model that is asked for"),
        pytest.param("cast_1", "TFOpLambda", True, False, id="of a layer that tf_keras makes of it"),
        pytest.param("cast_1", "Cast", False, True, id="numbered in the model that is cloned"),
        pytest.param("cast_1", "Dense", True, True, id="of a layer"),
        pytest.param("cost", "Cast", True, True, id="another name"),
    ],
)
def test_which_number_an_operation_has_in_a_model_on_other_inputs_says_nothing(
    name: str, kind: str, asked: bool, told: bool
) -> None:
    original, clone = _operation("cast", kind, asked=asked), faithful(_operation(name, kind, asked=asked))
    assert {each.aspect for each in structure(Pair(original, clone))} == ({"name"} if told else set())
