"""`clonediff bench`: each harness has a child of its own, and starting one is no part of a trial."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from clonediff.harness.cli import cli
from clonediff.harness.subjects import warm_child
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.warm_child import Limits


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int | None]]:
    """What the children were asked for, each with the child that answered."""
    found: list[tuple[str, int | None]] = []

    def noted(name: str, does: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(does)
        def ask(its: SubjectProcess, *given: Any, **named: Any) -> Any:
            answer = does(its, *given, **named)
            found.append((name, its.pid))
            return answer

        return ask

    for name in ("trial", "bench"):
        monkeypatch.setattr(SubjectProcess, name, noted(name, getattr(SubjectProcess, name)))
    return found


@pytest.mark.slow(reason="three Keras, one after another; tests/inside/test_serving has what a child measures")
def test_each_harness_has_a_child_of_its_own_whose_start_does_not_count(
    asked: list[tuple[str, int | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_child, "Limits", functools.partial(Limits, trials=1))  # a new child for each trial
    arguments = ["bench", "--graphs", "1", "--trials", "2", "--rate", "0", "--json"]
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    trials, (predict,) = ([child for name, child in asked if name == each] for each in ("trial", "bench"))
    assert len(trials) == len(set(trials)) == 2
    assert predict not in trials
    assert found["trials"] == 2
    assert found["predict_harness_graphs"] + found["predict_harness_crashed"] == 1
    start = found["ready_seconds"]["spawn"] * 1000
    assert found["added_by_process_ms"] < start / 4, "the second trial waited for its child"
    assert found["cpu_ms"] > 0
