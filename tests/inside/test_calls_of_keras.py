"""The scope that notes whether a cloner calls Keras: who counts calls around it counts on."""

from __future__ import annotations

import cProfile
import sys
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

    fewer, seen = _counted(make)
    assert seen is through_keras
    steps = 100
    more, seen = _counted(make)
    assert seen is through_keras
    assert more - fewer == steps


def test_a_profiler_of_the_process_stays(framework: Any) -> None:
    with cProfile.Profile(), CallsOfKeras(framework) as calls:
        framework.keras.models.clone_model(None)
    assert isinstance(calls.seen, bool)
    assert sys.getprofile() is None
