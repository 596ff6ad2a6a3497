"""The causes of recorded trials: their roots, their consequences and their fingerprints."""

from __future__ import annotations

import random

import pytest

from clonediff.harness.trials.triage import group_by_fingerprint
from tests.recorded import RecordedTrial, read, texts_of

pytestmark = pytest.mark.no_keras

TRIALS = read()


def _causes(trial: RecordedTrial, seed: int | None = None) -> tuple[str, ...]:
    differences = list(trial.differences)
    if seed is not None:
        random.Random(seed).shuffle(differences)
    return texts_of(group_by_fingerprint(trial.flow, differences))


def test_the_causes_equal_the_recorded_causes() -> None:
    changed = {trial.name: (_causes(trial), trial.causes) for trial in TRIALS if _causes(trial) != trial.causes}
    assert changed == {}, "if the new causes are right, run python -m tests.recorded.record"


def test_the_causes_do_not_depend_on_the_order_of_the_differences() -> None:
    assert [trial.name for trial in TRIALS if _causes(trial, seed=1) != trial.causes] == []


def test_every_difference_belongs_to_one_cause() -> None:
    for trial in TRIALS:
        causes = group_by_fingerprint(trial.flow, list(trial.differences)).values()
        members = [difference for cause in causes for difference in cause]
        assert sorted(map(repr, members)) == sorted(map(repr, trial.differences)), trial.name
