"""1. It can be made: the cloner does not raise on a model that built and ran.

What is plainly wrong among its arguments is to be refused by a clear error: a `TypeError` or `ValueError` that is
raised on purpose, in words; no accident, no endless loop, and no clone. What a function raises that `clone_model` was
given is to arrive.
"""

from __future__ import annotations

from msgspec.structs import replace

from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import place
from clonediff.harness.trials.checks.raised import raises
from clonediff.reports.records import Cost, Difference


def made(pair: Pair) -> list[Difference]:
    """The cloner's exception, or that it gave nothing."""
    shape = pair.original.shape
    if pair.original.wrong:
        return _refused(pair)
    if pair.clone.failure is not None and pair.clone.failure.own:
        return []
    if pair.clone.failure is not None:
        return [raises("made", "clone", "a clone", pair.clone.failure, shape)]
    if pair.observed is None:
        return [Difference("made", "clone", "nothing", "a clone", "nothing", Cost.CRASHES, place(shape, -1))]
    return []


def _refused(pair: Pair) -> list[Difference]:
    failure, first = pair.clone.failure, place(pair.original.shape, -1)
    if failure is None:
        return [Difference("made", "clone", "no error", "a clear error", "a clone", Cost.PROPERTY, first)]
    if failure.clear:
        return []
    if any(frame.function == "get_config" for frame in failure.frames):
        return [raises("made", "clone", "a clone", failure, pair.original.shape)]  # no clone comes of any argument
    unclear = raises("made", "clone", "a clear error", failure, pair.original.shape)
    return [replace(unclear, aspect="unclear error", rank=Cost.PROPERTY, first=first)]
