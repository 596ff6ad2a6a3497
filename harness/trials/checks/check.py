"""What a check is: a property of a faithful clone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clonediff.harness.trials.checks.pairing import Pair
from clonediff.reports.records import Difference


@dataclass(frozen=True)
class Check:
    """A property of a faithful clone: what finds the differences.

    One that is `costly` sees nothing of a trial without its costly part; `of_a_clone` says that there is nothing to see
    where none was made.
    """

    name: str
    differences: Callable[[Pair], list[Difference]]
    costly: bool = False
    of_a_clone: bool = True
