"""`clonediff check` reports the difference for each kind of model."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clonediff.harness.answers.check import check
from tests.answers import models_by_kind

MODELS = [
    function
    for function in vars(models_by_kind).values()
    if inspect.isfunction(function) and function.__module__ == models_by_kind.__name__ and function.__doc__
]


@pytest.mark.parametrize("model", MODELS, ids=lambda function: function.__name__)
def test_check_describes_the_difference_of_a_model(model: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    checked = check(f"{models_by_kind.__file__}:{model.__name__}")
    assert checked.fails() and not checked.clones["fixed"]
    worst = min(checked.causes, key=lambda cause: cause.cause.severity)
    assert str(model.__doc__) in f"{worst.sentence} {worst.advice} {worst.explanation}"
