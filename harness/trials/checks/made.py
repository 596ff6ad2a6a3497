"""1. It can be made: the cloner does not raise on a model that built and ran.

What a function raises that `clone_model` was given is to arrive.
"""

from __future__ import annotations

from clonediff.harness.inside.cloners.users import NO_MODEL
from clonediff.harness.trials.checks.check import Aspects, Check, Comparison, crashes
from clonediff.harness.trials.checks.links import Stage
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import place
from clonediff.harness.trials.checks.raised import raises
from clonediff.reports.records import Difference

_ASPECTS = Aspects(
    "made",
    crashes(
        ("raises", "{held} cannot be cloned"),
        ("nothing", "the cloner gives nothing"),
        ("original refused", "the original cannot be built or run"),
        ("process timed out", "cloning a model, or running the clone, does not end in time"),
        ("process out of memory", "cloning a model, or running the clone, takes too much memory"),
        ("process *", "cloning a model, or running the clone, ends its process"),
    ),
    crashes(
        ("no model", "the cloner gives something else than a Functional or Sequential model"),
        shown=Comparison("isinstance(clone, keras.Model) and getattr(clone, 'inputs', None) is not None", how="assert"),
    ),
    shown=Comparison(how="raises"),
)


def made(pair: Pair) -> list[Difference]:
    """The cloner's exception, or that it gave nothing."""
    shape, failure = pair.original.shape, pair.clone.failure
    if failure is not None and failure.type == NO_MODEL:
        return [_ASPECTS.differs("no model", "clone", f"a {shape.kind} model", failure.message, place(shape, -1))]
    if failure is not None:
        return [raises(_ASPECTS, "clone", "a clone", failure, shape)]
    if pair.clone.observation is None:
        return [_ASPECTS.differs("nothing", "clone", "a clone", "nothing", place(shape, -1))]
    return []


CHECK = Check(_ASPECTS, Stage.MADE, made, of_a_clone=False)
