"""`clonediff bench`: each harness has a child of its own, and starting one is no part of a trial."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from harness.cli import cli
from harness.subjects import process
from harness.subjects.process import Limits, SubjectProcess


def bench(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(cli, ["bench", "--json", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int | None]]:
    """What the children were asked for, each with the child that answered."""
    found: list[tuple[str, int | None]] = []

    def noted(name: str, does: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(does)
        def ask(its: SubjectProcess, *given: Any, **named: Any) -> Any:
            answer = does(its, *given, **named)
            found.append(("costly" if named.get("checks") else name, its.pid))
            return answer

        return ask

    for name in ("trial", "bench"):
        monkeypatch.setattr(SubjectProcess, name, noted(name, getattr(SubjectProcess, name)))
    return found


def test_predict_runs_in_another_child_than_the_trials(asked: list[tuple[str, int | None]]) -> None:
    found = bench("--graphs", "2", "--trials", "3", "--rate", "2")
    order = ["trial", "bench", "trial", "bench", "trial", "costly"]
    assert [name for name, _ in asked] == order, "the costly parts trace functions too, so they come last"
    children = {name: {pid for each, pid in asked if each == name} for name, _ in asked}
    assert children["trial"] == children["costly"]
    assert len(children["trial"]) == len(children["bench"]) == 1
    assert children["trial"].isdisjoint(children["bench"])
    assert found["trials"] == 3
    assert found["predict_harness_graphs"] + found["predict_harness_crashed"] == 2
    assert found["cpu_ms"] > 0


def test_starting_a_child_is_no_part_of_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "Limits", functools.partial(Limits, trials=1))  # a new child for each trial
    found = bench("--graphs", "2", "--rate", "0")
    start = found["ready_seconds"]["spawn"] * 1000
    assert found["added_by_process_ms"] < start / 4, "of two trials, the second one has a new child"
