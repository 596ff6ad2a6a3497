"""14. Together: original and clone in one model take the step that each takes alone; two models can stand in one.

What is expected comes from the original alone, or from it beside another build of itself where that does otherwise.
What the clone does otherwise alone is not told again.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from clonediff.harness.trials.checks import training
from clonediff.harness.trials.checks.check import Aspects, Check, crashes
from clonediff.harness.trials.checks.links import Reach, Stage
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import place
from clonediff.harness.trials.checks.raised import raises
from clonediff.reports.records import Difference

_OF_TRAINING: dict[str, Any] = {"reach": Reach.TRAINING, "any_layer": True}
_ASPECTS = Aspects(
    "together",
    crashes(("raises", "{clone} cannot be trained"), path="together", **_OF_TRAINING),
    training.ASPECTS.not_compared(),
)


def together(pair: Pair) -> list[Difference]:
    """What the original, and then the clone, does otherwise beside the other one."""
    alone, want, have = pair.original.trained, pair.original.together, pair.observed.together
    if have is None or alone is None or alone.failure is not None:
        return []
    shape = pair.original.shape
    if want is not None and (want.failure is not None or want.why):
        return []
    if have.failure is not None:
        return [replace(raises(_ASPECTS, "together", "it trains", have.failure, shape), first=place(shape, -1))]
    of_a_build = (None, None) if want is None else (want.original, want.other)
    told = {(each.path, each.aspect) for each in training.CHECK.differences(pair)}
    differences: list[Difference] = []
    for whose, other, found in zip(("original", "clone"), of_a_build, (have.original, have.other), strict=True):
        for each in training.step(pair, other or alone, found) if found is not None else ():
            if whose == "original" or (each.path, each.aspect) not in told:
                differences.append(
                    replace(each, check="together", path=each.path.replace("trained", f"together.{whose}", 1))
                )
    return differences


CHECK = Check(_ASPECTS, Stage.TOGETHER, together, part="together")
