"""What a check is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clonediff.harness.trials.checks.aspects import Aspects
from clonediff.harness.trials.checks.links import Link, Stage
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.reports.records import Difference, Severity


@dataclass(frozen=True)
class Check:
    """A property of a faithful clone: what finds the differences, and what it can say of them.

    `part` is the costly part of a trial without which it sees nothing, if there is one; `links` is what its differences
    lead to by no general rule; `of_a_clone` says that there is nothing to see where none was made.
    """

    aspects: Aspects
    stage: Stage
    differences: Callable[[Pair], list[Difference]]
    part: str = ""
    links: tuple[Link, ...] = ()
    of_a_clone: bool = True

    @property
    def name(self) -> str:
        return self.aspects.check

    @property
    def severity(self) -> Severity:
        """The worst that breaking it can do to a user."""
        return min(each.severity for each in self.aspects)
