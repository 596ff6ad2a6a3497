"""What a faithful clone is: one check for each line of the promise, all of them on plain data.

A check is a function of a `Pair`, an original's observation and what a cloner made of it, and gives back every
`Difference` it sees, in the original's order; an empty list is a pass. No check
runs Keras.
"""

from __future__ import annotations

from collections.abc import Iterable

from clonediff.harness.subjects.observation import Clone, Observation
from clonediff.harness.trials.checks import (
    again,
    functions,
    made,
    masks,
    outputs,
    own,
    sharing,
    structure,
    training,
    untouched,
    warned,
    weights,
)
from clonediff.harness.trials.checks.check import Check
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.reports.records import Difference

_AT_REST_AND_RUN = (made, weights, own, sharing, outputs, masks, structure, untouched)
_OF_FURTHER_USE = (again, training, functions, warned)
CHECKS: dict[str, Check] = {each.CHECK.name: each.CHECK for each in (*_AT_REST_AND_RUN, *_OF_FURTHER_USE)}
"""The checks by name, in the order of the promise."""


def takes_costly(check: str, path: str) -> bool:
    """Whether what a check sees at that path takes the costly part of a trial: a second clone, or a training step.

    A further clone may change the original, too; and a process may end in any part of a trial.
    """
    return path.startswith("process") or check == "untouched" or (check in CHECKS and CHECKS[check].costly)


def compare(original: Observation, clone: Clone, checks: Iterable[str] = CHECKS) -> list[Difference]:
    """All differences of a clone, check by check. The alignment is made once for all of them."""
    pair = Pair(original, clone)
    looking = [CHECKS[name] for name in checks if clone.observation is not None or not CHECKS[name].of_a_clone]
    return [difference for check in looking for difference in check.differences(pair)]
