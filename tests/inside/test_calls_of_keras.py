"""The scope that notes whether a cloner calls Keras: who counts calls around it counts on."""

from __future__ import annotations

import cProfile
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from clonediff.harness.inside.cloners.users import CallsOfKeras
from clonediff.harness.inside.often import _counted

KERAS = """
def clone_model(model):
    return step(model)


def step(model):
    return model
"""


@pytest.fixture
def framework(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = ModuleType("keras_with_one_function")
    exec(KERAS, vars(module))  # noqa: S102 - so that the functions are of that module
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return SimpleNamespace(keras=SimpleNamespace(models=module))


@pytest.mark.parametrize("through_keras", [True, False])
def test_calls_are_counted_on_while_it_looks(through_keras: bool, framework: Any) -> None:
    steps = 0

    def make() -> bool:
        with CallsOfKeras(framework) as calls:
            if through_keras:
                framework.keras.models.clone_model(None)
            for _ in range(steps):
                framework.keras.models.step(None)
        return calls.seen

    fewer, seen = counted(make)
    assert seen is through_keras
    steps = 100
    more, seen = counted(make)
    assert seen is through_keras
    assert more - fewer == steps


def counted(make: Callable[[], bool]) -> tuple[int, bool]:
    """How many calls of functions it takes, by a profiler that is a function of Python, and what it gives."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        made = make()
    finally:
        sys.setprofile(None)
    return calls, made


def test_where_calls_are_counted_in_c_nothing_looks(framework: Any) -> None:
    def make(steps: int) -> bool:
        with CallsOfKeras(framework) as calls:
            for _ in range(steps):
                framework.keras.models.clone_model(None)
        return calls.seen

    (fewer, one), (more, other) = (_counted(lambda steps=steps: make(steps)) for steps in (1, 101))
    assert more - fewer == 200, "each calls a step"
    if sys.version_info < (3, 12):  # where a profile in C is seen by nobody else
        assert (one, other) == (False, False)


def test_a_profiler_of_the_process_stays(framework: Any) -> None:
    with cProfile.Profile(), CallsOfKeras(framework) as calls:
        framework.keras.models.clone_model(None)
    assert isinstance(calls.seen, bool)
    assert sys.getprofile() is None
