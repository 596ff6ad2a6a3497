"""What a faithful clone is: one check for each line of the promise, all of them on plain data.

A check is a function of a `Pair`, an original's observation and what a cloner made of it, and gives back every
`Difference` it sees, in the original's order; an empty list is a pass. Knows nothing of
`clonediff.harness.inside`. The check of devices compares two answers instead, and stands in
`clonediff.harness.trials.checks.devices`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from clonediff.harness.subjects.observation import Clone, Observation
from clonediff.harness.trials.checks.again import again
from clonediff.harness.trials.checks.functions import functions
from clonediff.harness.trials.checks.made import made
from clonediff.harness.trials.checks.masks import masks
from clonediff.harness.trials.checks.outputs import outputs
from clonediff.harness.trials.checks.own import own
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.saved import saved
from clonediff.harness.trials.checks.sharing import sharing
from clonediff.harness.trials.checks.structure import structure
from clonediff.harness.trials.checks.training import training
from clonediff.harness.trials.checks.untouched import untouched
from clonediff.harness.trials.checks.weights import weights
from clonediff.reports.records import Cost, Difference

__all__ = ["CHECKS", "OWN_WAY", "REFUSED", "Check", "Pair", "compare"]


@dataclasses.dataclass(frozen=True)
class Check:
    """A property of a faithful clone. `rank` is the worst that breaking it can cost a user.

    `part` is the costly part of a trial without which it sees nothing, if there is one.
    """

    name: str
    rank: Cost
    differences: Callable[[Pair], list[Difference]]
    part: str = ""

    def __call__(self, original: Observation, clone: Clone) -> list[Difference]:
        """Every difference that this check sees."""
        return self.differences(Pair(original, clone))


CHECKS: dict[str, Check] = {
    check.name: check
    for check in (
        Check("made", Cost.CRASHES, made),
        Check("weights", Cost.CRASHES, weights),
        Check("own", Cost.TRAINS, own),
        Check("sharing", Cost.TRAINS, sharing),
        Check("outputs", Cost.CRASHES, outputs),
        Check("masks", Cost.COMPUTES, masks),
        Check("structure", Cost.COMPUTES, structure),
        Check("untouched", Cost.COMPUTES, untouched),
        Check("again", Cost.CRASHES, again, "again"),
        Check("training", Cost.CRASHES, training, "training_step"),
        Check("saved", Cost.CRASHES, saved, "saving"),
        Check("functions", Cost.CRASHES, functions),
    )
}
"""The checks by name, in the order of the promise."""


OWN_WAY = ("made", "functions", "untouched")
"""The checks of a clone that somebody's own functions ask for: nobody knows what model that is."""


REFUSED = ("made", "untouched")
"""The checks of a clone that is not to be made."""


def compare(original: Observation, clone: Clone, checks: Iterable[str] = CHECKS) -> list[Difference]:
    """All differences of a clone, check by check. The alignment is made once for all of them."""
    pair = Pair(original, clone)
    return [difference for name in checks for difference in CHECKS[name].differences(pair)]
