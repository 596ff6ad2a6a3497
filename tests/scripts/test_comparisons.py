"""The expression by which a script finds a layer in a model."""

from __future__ import annotations

from typing import Any

import pytest

from clonediff.harness.scripts.comparisons import named
from clonediff.reports.records import Difference, Place, Severity

keras: Any = pytest.importorskip("keras")


@pytest.fixture(scope="module")
def model() -> Any:
    """Two models in a model, each with a layer and an operation that are called as those of the other."""

    def part(name: str, units: int) -> Any:
        x = keras.Input((2,))
        made = keras.layers.Dense(units, name="dense")(x)
        mean = keras.ops.mean(made, axis=units - 3)
        mean._keras_history.operation.name = "mean"
        return keras.Model(x, mean, name=name)

    x = keras.Input((2,))
    return keras.Model(x, [part("first", 2)(x), part("second", 3)(x)])


def _found(model: Any, name: str, kind: str) -> Any:
    place = Place(name, kind, 1, inside="Functional")
    expression = named(Difference("structure", "", "", "", "", Severity.PROPERTY, place), "keras")
    return eval(expression.format("model"), {"model": model, "keras": keras})  # noqa: S307 - what a script says


def test_a_layer_in_one_of_two_models_is_that_of_the_model(model: Any) -> None:
    assert [_found(model, f"{each}/dense", "Dense").units for each in ("first", "second")] == [2, 3]


def test_an_operation_in_a_model_is_found(model: Any) -> None:
    assert [_found(model, f"{each}/mean", "Mean").axis for each in ("first", "second")] == [[-1], [0]]
