"""1. It can be made: the cloner does not raise on a model that built and ran."""

from __future__ import annotations

from harness.trials.checks.pairing import Pair
from harness.trials.checks.places import place
from harness.trials.checks.raised import raises
from reports.records import Cost, Difference


def made(pair: Pair) -> list[Difference]:
    """The cloner's exception, or that it gave nothing."""
    shape = pair.original.shape
    if pair.clone.failure is not None:
        return [raises("made", "clone", "a clone", pair.clone.failure, shape)]
    if pair.observed is None:
        return [Difference("made", "clone", "nothing", "a clone", "nothing", Cost.CRASHES, place(shape, -1))]
    return []
