"""Calls told apart by who uses them, and by how their arguments are written."""

from __future__ import annotations

from typing import Any

from clonediff.harness.subjects.observation import CallSeen, Clone
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.structure import structure

from .making import altered, faithful, gives, layer, observed

S = "observation.shape"


def _shared_twice() -> Any:
    shared = layer("s", "Dense", 1, gives([0, 0, 0]), gives([0, 0, 0]))
    users = [layer("a", "ReLU", 2, gives([1, 0, 0])), layer("b", "ELU", 3, gives([1, 1, 0]))]
    return observed([layer("input", "InputLayer", 0), shared, *users], [2, 3])


def test_calls_on_the_same_tensor_are_told_apart_by_who_uses_them() -> None:
    original = _shared_twice()
    clone = altered(
        faithful(original),
        (f"{S}.layers.2.calls", [gives([1, 1, 0])]),
        (f"{S}.layers.3.calls", [gives([1, 0, 0])]),
    )
    assert Pair(original, clone).calls[1].pairs == ((0, 1), (1, 0))
    assert [(one.aspect, one.path) for one in structure(Pair(original, clone))] == [("call order", "layers['s'].calls")]


def test_calls_change_places_also_where_the_clone_adds_an_argument_to_each() -> None:
    shared = layer("s", "ReLU", 2, gives([0, 0, 0]), gives([1, 0, 0]))
    original = observed([layer("input", "InputLayer", 0), layer("a", "ELU", 1, gives([0, 0, 0])), shared], [2])
    added = {"mask": None}
    clone = altered(
        faithful(original), (f"{S}.layers.2.calls", [gives([1, 0, 0], kwargs=added), gives([0, 0, 0], kwargs=added)])
    )
    assert Pair(original, clone).calls[2].pairs == ((0, 1), (1, 0))


def test_calls_change_places_also_where_the_clone_has_an_argument_by_keyword() -> None:
    first, second = {"tensor": [0, 0, 0]}, {"tensor": [1, 0, 0]}
    shared = layer("s", "Attention", 2, gives([0, 0, 0], [1, 0, 0]), gives([0, 0, 0], [0, 0, 0]))
    original = observed([layer("input", "InputLayer", 0), layer("a", "ELU", 1, gives([0, 0, 0])), shared], [2])
    calls = [gives([0, 0, 0], kwargs={"value": first}), gives([0, 0, 0], kwargs={"value": second})]
    assert Pair(original, altered(faithful(original), (f"{S}.layers.2.calls", calls))).calls[2].pairs == (
        (0, 1),
        (1, 0),
    )


def test_calls_that_nobody_tells_apart_keep_their_order() -> None:
    original = _shared_twice()
    assert Pair(original, Clone(observation=original)).calls[1].pairs == ((0, 0), (1, 1))


def _called(*args: Any, **kwargs: Any) -> Any:
    call = CallSeen(list(args), kwargs, 1, (False,))
    return observed([layer("input", "InputLayer", 0), layer("add", "Add", 1, call)], [1])


TENSOR = {"tensor": [0, 0, 0]}


def _told(original: Any, clone: Any) -> list[tuple[str, str]]:
    return [(one.aspect, one.path) for one in structure(Pair(original, Clone(observation=clone)))]


def test_an_argument_by_keyword_is_the_same_argument() -> None:
    assert _told(_called(TENSOR, 2.0), _called(TENSOR, y=2.0)) == []
    assert _told(_called(TENSOR, 2.0, name=None), _called(TENSOR, y=2.0, name=None)) == []
    assert _told(_called(TENSOR, 1, 2), _called(TENSOR, y=2, x=1)) == []


def test_an_argument_by_keyword_with_another_value_is_told_once() -> None:
    assert _told(_called(TENSOR, {"tuple": [1]}), _called(TENSOR, y=[1])) == [
        ("call.kwargs type", "layers['add'].calls[0].kwargs['y']")
    ]


def test_a_tensor_that_is_lost_is_missing() -> None:
    assert _told(_called(TENSOR, TENSOR), _called(TENSOR)) == [("call.args missing", "layers['add'].calls[0].args[1]")]
