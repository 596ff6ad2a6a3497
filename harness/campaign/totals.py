"""The totals of a campaign so far, subject by subject, and the records that are made of them.

Only sums are kept, however long the campaign runs. Pure.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

from clonediff.harness.campaign.shards import ShardDone, SubjectStarted
from clonediff.harness.source.other_layers import is_other
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import Draws, Finding, KnownMet
from clonediff.strategies.kinds.operations import is_operation

MANY = 5
"""A layer that Keras never accepted is reported once it was tried on so many tensors."""

FindingKey = tuple[str, str, str]


@dataclass(slots=True)
class SubjectTotals:
    """Of one subject. `drawn` is what came of all its shards.

    `settling` are the trials for making findings smaller, `reducing` the workers' seconds that these took.
    """

    met: SubjectStarted
    drawn: ShardDone = field(default_factory=lambda: ShardDone("", 0))
    settling: int = 0
    reducing: float = 0.0

    @property
    def not_accepted(self) -> dict[str, str]:
        """The layers of the user's of which Keras accepted no call, with the last exception."""
        return {
            kind: why
            for kind, (tensors, why) in sorted(self.drawn.not_accepted.items())
            if kind not in self.drawn.accepted and tensors >= MANY and is_other(kind) and not is_operation(kind)
        }

    @property
    def trials(self) -> int:
        """All that were run."""
        return self.drawn.trials + self.settling

    def add(self, done: ShardDone) -> None:
        """Add a shard."""
        self.drawn = self.drawn.plus(done)

    def draws(self) -> Draws:
        """What it was given to try, for the record."""
        refusals = self.drawn.refusals
        return Draws(
            graphs=self.drawn.trials,
            refused=sum(each.graphs for each in refusals),
            reasons={each.why: each.graphs for each in sorted(refusals, key=lambda its: -its.graphs)},
            not_accepted=self.not_accepted,
        )


def key_of(finding: Finding) -> FindingKey:
    """What makes two findings of a campaign the same one."""
    return finding.subject, finding.cloner, finding.id


class Totals:
    """Of all subjects, with the findings by subject, cloner and fingerprint."""

    def __init__(self, known: KnownIssues) -> None:
        self.of: dict[str, SubjectTotals] = {}
        self.lost: dict[str, str] = {}
        self.findings: dict[FindingKey, Finding] = {}
        self.unsteady: list[str] = []
        self._known = known

    def meet(self, met: SubjectStarted) -> None:
        """A subject that is tried."""
        if met.subject not in self.of:
            self.of[met.subject] = SubjectTotals(met)

    def shard(self, done: ShardDone) -> None:
        """A shard that was tried."""
        if done.subject in self.of:
            self.of[done.subject].add(done)

    def found(self, finding: Finding) -> None:
        """A finding, or the same with other numbers."""
        self.findings[key_of(finding)] = finding

    def taken_back(self, finding: Finding) -> None:
        """A finding that did not show again."""
        self.findings.pop(key_of(finding), None)

    def reduced(self, subject: str, trials: int, seconds: float) -> None:
        """What making a finding smaller took."""
        if subject in self.of:
            self.of[subject].settling += trials
            self.of[subject].reducing += seconds

    @property
    def trials(self) -> int:
        """All that were run."""
        return sum(each.trials for each in self.of.values())

    @property
    def drawn(self) -> ShardDone:
        """What came of the shards of all subjects."""
        return functools.reduce(ShardDone.plus, (each.drawn for each in self.of.values()), ShardDone("", 0))

    def new(self) -> list[Finding]:
        """The findings that count: all but those whose script does not fail alone."""
        return [each for each in self.findings.values() if each.proof is not False]

    def known_met(self) -> tuple[KnownMet, ...]:
        """The known issues that were met on each subject, and how often."""
        return tuple(
            KnownMet(
                id=issue.id,
                title=issue.title,
                generation=issue.generation,
                subject=name,
                count=each.drawn.known[issue.id],
                because=issue.because,
                link=issue.link,
                since=issue.since,
                until=issue.until,
                severity=each.drawn.severities.get(issue.id),
            )
            for name, each in self.of.items()
            for issue in self._known.issues
            if issue.id in each.drawn.known
        )
