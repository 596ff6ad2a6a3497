"""1. It can be made: the cloner does not raise on a model that built and ran.

What a function raises that `clone_model` was given is to arrive.
"""

from __future__ import annotations

from clonediff.harness.inside.cloners.users import NO_MODEL
from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.checks.check import Check
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import place
from clonediff.harness.trials.checks.raised import raises
from clonediff.reports.records import Difference


def made(pair: Pair) -> list[Difference]:
    """The cloner's exception, or that it gave nothing."""
    shape, failure = pair.original.shape, pair.clone.failure
    if failure is not None and failure.type == NO_MODEL:
        return [differs("made", "no model", "clone", f"a {shape.kind} model", failure.message, place(shape, -1))]
    if failure is not None:
        return [raises("made", "clone", "a clone", failure, shape)]
    if pair.clone.observation is None:
        return [differs("made", "no model", "clone", "a clone", "nothing", place(shape, -1))]
    return []


CHECK = Check("made", made, of_a_clone=False)
