"""9. Again: cloning twice, and cloning the clone, gives the same.

What is expected of the second clone, and of the clone's clone, comes from the original; what the first clone has wrong
already is not told again.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from harness.subjects.observation import Clone, Observation
from harness.trials.checks.masks import masks
from harness.trials.checks.outputs import outputs
from harness.trials.checks.own import own
from harness.trials.checks.pairing import Pair
from harness.trials.checks.raised import raises
from harness.trials.checks.sharing import sharing
from harness.trials.checks.structure import structure
from harness.trials.checks.weights import weights
from reports.records import Difference

Key = tuple[str, str]


def again(pair: Pair) -> list[Difference]:
    """What is wrong with a second clone and with the clone of the clone, and was not with the clone."""
    clone, original = pair.clone, pair.original
    if clone.observation is None:
        return []
    asked = (clone.again_failure, clone.twice_failure, clone.again, clone.twice)
    if all(each is None for each in asked):
        return []
    told = {_key(difference) for difference in _all(pair)}
    differences: list[Difference] = []
    for path, failure, expected in (
        ("again", clone.again_failure, "a second clone"),
        ("twice", clone.twice_failure, "a clone of the clone"),
    ):
        if failure is not None:
            differences.append(raises("again", path, expected, failure, original.shape))
    if clone.again is not None:
        second = Observation(shape=clone.again, copied_weights=original.copied_weights)
        differences += _new(Pair(original, Clone(observation=second)), told, "again", runs=False)
    if clone.twice is not None:
        differences += _new(Pair(original, Clone(observation=clone.twice)), told, "twice", runs=True)
    return differences


def _new(pair: Pair, told: Collection[Key], path: str, *, runs: bool) -> list[Difference]:
    return [
        replace(difference, check="again", path=f"{path}.{difference.path}")
        for difference in _all(pair, runs=runs)
        if _key(difference) not in told
    ]


def _all(pair: Pair, *, runs: bool = True) -> list[Difference]:
    at_rest = [*sharing(pair), *structure(pair), *weights(pair), *own(pair)]
    if not runs:
        return at_rest
    here = [name for name in ("inference", "training") if getattr(pair.observed, name) is not None]
    in_runs = [*outputs(pair), *masks(pair)]
    return at_rest + [one for one in in_runs if one.path.startswith(("layers", *here))]


def _key(difference: Difference) -> Key:
    return difference.path, difference.aspect
