"""1. It can be made: the cloner does not raise on a model that built and ran.

What is plainly wrong among its arguments is to be refused by a clear error: a `TypeError` or `ValueError` that is
raised on purpose, in words; no accident, no endless loop, and no clone. What a function raises that `clone_model` was
given is to arrive.
"""

from __future__ import annotations

from msgspec.structs import replace

from clonediff.harness.inside.cloners.users import NO_MODEL
from clonediff.harness.trials.checks.check import Aspects, Check, Comparison, crashes, loses
from clonediff.harness.trials.checks.links import Stage
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import place
from clonediff.harness.trials.checks.raised import raises
from clonediff.reports.records import Difference, Severity

_ASPECTS = Aspects(
    "made",
    loses(
        ("no error", "cloning silently accepts an invalid argument"),
        same_as={"Sequential": ("no error", "Functional")},
        shown=Comparison('raise AssertionError("no error")', how="line"),
    ),
    loses(("unclear error", "an invalid argument raises an exception that does not say what is wrong")),
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
    if pair.original.wrong:
        return _refused(pair)
    if failure is not None and failure.type == NO_MODEL:
        return [_ASPECTS.differs("no model", "clone", f"a {shape.kind} model", failure.message, place(shape, -1))]
    if failure is not None:
        return [] if failure.own else [raises(_ASPECTS, "clone", "a clone", failure, shape)]
    if pair.clone.observation is None:
        return [_ASPECTS.differs("nothing", "clone", "a clone", "nothing", place(shape, -1))]
    return []


def _refused(pair: Pair) -> list[Difference]:
    failure, first = pair.clone.failure, place(pair.original.shape, -1)
    if failure is None:
        return [_ASPECTS.differs("no error", "clone", "a clear error", "a clone", first)]
    if failure.clear:
        return []
    if any(frame.function == "get_config" for frame in failure.frames):
        return [raises(_ASPECTS, "clone", "a clone", failure, pair.original.shape)]  # no clone comes of any argument
    unclear = raises(_ASPECTS, "clone", "a clear error", failure, pair.original.shape)
    return [replace(unclear, aspect="unclear error", severity=Severity.PROPERTY, first=first)]


CHECK = Check(_ASPECTS, Stage.MADE, made, of_a_clone=False)
