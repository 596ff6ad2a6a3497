"""What is a cause, and what follows from it, in trials of real models."""

from __future__ import annotations

import random

from clonediff.harness.trials.triage import causes_of
from tests.recorded import Recorded, read, said

TRIALS = read()


def _causes(trial: Recorded, seed: int | None = None) -> tuple[str, ...]:
    differences = list(trial.differences)
    if seed is not None:
        random.Random(seed).shuffle(differences)
    return tuple(said(members[0]) for members in causes_of(trial.flow, differences).values())


def test_the_causes_are_those_that_were_recorded() -> None:
    """Where another answer is right: python -m tests.recorded.record."""
    unlike = {trial.name: (_causes(trial), trial.causes) for trial in TRIALS if _causes(trial) != trial.causes}
    assert unlike == {}


def test_the_causes_do_not_depend_on_the_order_of_the_differences() -> None:
    assert [trial.name for trial in TRIALS if _causes(trial, seed=1) != trial.causes] == []
