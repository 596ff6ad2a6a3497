"""What a faithful clone is: one check for each line of the promise, all of them on plain data.

A check is a function of a `Pair`, an original's observation and what a cloner made of it, and gives back every
`Difference` it sees, in the original's order; an empty list is a pass. No check runs Keras.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from clonediff.harness.observation import Clone, Observation
from clonediff.harness.trials.checks import made, objects, runs, structure, weights
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import is_within
from clonediff.reports.records import Difference, Severity


@dataclass(frozen=True)
class Check:
    """A property of a faithful clone: what finds the differences.

    One that is `costly` sees nothing of a trial without its costly part; `of_a_clone` says that there is nothing to see
    where none was made.
    """

    name: str
    differences: Callable[[Pair], Iterable[Difference]]
    costly: bool = False
    of_a_clone: bool = True


CHECKS = {
    check.name: check
    for check in (
        Check("made", made.made, of_a_clone=False),
        Check("weights", weights.weights),
        Check("own", objects.own),
        Check("sharing", objects.sharing),
        Check("outputs", runs.outputs),
        Check("masks", runs.masks),
        Check("structure", structure.structure),
        Check("untouched", objects.untouched, of_a_clone=False),
        Check("again", objects.again, costly=True),
        Check("training", runs.training, costly=True),
        Check("warned", made.warned, of_a_clone=False),
    )
}
"""The checks by name, in the order of the promise."""

_NUMBER = re.compile(r"[-+.0-9a-f]*[0-9][-+.0-9a-f]*")
"""In hexadecimal digits, too: a digest of numbers is drawn as they are."""

_OF_OTHER_MODELS = ("again", "untouched")
"""The checks that hold another clone, or the original itself, against the original by the other checks."""


def takes_costly(check: str, path: str) -> bool:
    """Whether what a check sees at that path takes the costly part of a trial: a second clone, or training.

    A further clone may change the original, too; and a process may end in any part of a trial.
    """
    return path.startswith("process") or check == "untouched" or (check in CHECKS and CHECKS[check].costly)


def compare(original: Observation, clone: Clone, checks: Iterable[str] = CHECKS) -> list[Difference]:
    """All differences of a clone that are no chance, check by check. The alignment is made once for all of them."""
    looking = [CHECKS[name] for name in checks if clone.observation is not None or not CHECKS[name].of_a_clone]
    differences = _all(Pair(original, clone), looking)
    if original.unrepeatable:
        differences = [difference for difference in differences if not _may_be_drawn(difference)]
    chance = _chance(original, looking) if differences else set()
    return [difference for difference in differences if not _is_among(difference, chance)]


def _chance(original: Observation, checks: Iterable[Check]) -> set[tuple[str, str]]:
    """The checks and paths by which another build of the source differs from this one, names aside.

    A live model, which nobody can build again, is observed again: that tells what differs in its runs.
    """
    if original.another is None:
        return set()
    pair = Pair(original, Clone(observation=original.another))
    differences = _all(pair, [check for check in checks if not original.live or check.name != "own"])
    counted = (difference for difference in differences if difference.severity is not Severity.NAME)
    return {(difference.check, difference.path) for difference in counted}


def _may_be_drawn(difference: Difference) -> bool:
    """Whether a fact is another in numbers alone, which chance may have drawn."""
    expected, found = (_NUMBER.sub("", text) for text in (difference.expected, difference.found))
    return difference.aspect[:10] == "attribute." and expected == found


def _all(pair: Pair, checks: Iterable[Check]) -> list[Difference]:
    return [difference for check in checks for difference in check.differences(pair)]


def _is_among(difference: Difference, chance: Collection[tuple[str, str]]) -> bool:
    """Whether a difference is at a path that the null has for the same check, or within it."""
    check, path = difference.check, difference.path
    if check in _OF_OTHER_MODELS:
        path = path.partition(".")[2]
    return any(is_within(path, outer) and check in (name, *_OF_OTHER_MODELS) for name, outer in chance)
