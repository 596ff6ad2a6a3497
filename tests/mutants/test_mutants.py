"""The comparison kills nearly all of thirty mutants, without false alarms."""

from __future__ import annotations

from tests.helpers.example_counts import example_count
from tests.mutants.score import KILLED, SURVIVED, killed_share, score

MIN_SCORES = {"source": 0.97, "live": 0.95}


def test_nearly_every_mutant_is_killed() -> None:
    results = list(score(example_count(30, 450), seed=0))
    unexpected = [str(result) for result in results if result.outcome not in (KILLED, SURVIVED)]
    assert unexpected == []  # neither a false alarm nor an exception in the comparison
    for mode, min_score in MIN_SCORES.items():
        killed, counts = killed_share(results, mode)
        survivors = [str(result) for result in results if result.mode == mode and result.outcome == SURVIVED]
        assert killed >= min_score, "\n".join([f"{mode}: {killed:.1%}, {counts}", *survivors])
