"""The comparison kills nearly every mutant, and raises no alarm on one: sixty by day."""

from __future__ import annotations

import pytest

from tests.example_counts import examples

from .score import ALARM, CRASHED, SURVIVED, Result, score, share
from .trials import MODES

TARGETS = {"source": 0.97, "live": 0.95}


@pytest.fixture(scope="module")
def results() -> list[Result]:
    return list(score(examples(60, 450), seed=0))


@pytest.mark.parametrize("mode", MODES)
def test_nearly_every_mutant_is_killed(mode: str, results: list[Result]) -> None:
    killed, counts = share(results, mode)
    survivors = [str(result) for result in results if result.mode == mode and result.outcome == SURVIVED]
    assert killed >= TARGETS[mode], "\n".join([f"{killed:.1%}, {counts}", *survivors])


def test_the_comparison_raises_nothing_and_no_alarm(results: list[Result]) -> None:
    assert [str(result) for result in results if result.outcome in (ALARM, CRASHED)] == []
