"""The totals of a campaign so far, subject by subject, and the records that are made of them.

Only sums are kept, however long the campaign runs. Pure.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

from clonediff.harness.campaign.reach import file_reached
from clonediff.harness.campaign.shards import (
    KnownRetried,
    ShardDone,
    SubjectStarted,
    WrittenFinding,
)
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import KnownIssue, KnownIssues
from clonediff.reports.records import Draws, FileReached, Finding, KnownMet
from clonediff.reports.run_folder import known_folder

MANY = 5
"""A kind that Keras never accepted is reported once it was tried on so many tensors."""

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
    breaks: dict[str, bool | None] = field(default_factory=dict)
    examples: dict[str, WrittenFinding] = field(default_factory=dict)

    @property
    def not_accepted(self) -> dict[str, str]:
        """The kinds of which the release accepted no call, on however many tensors, with the last exception."""
        return {
            kind: why
            for kind, (tensors, why) in sorted(self.drawn.not_accepted.items())
            if kind not in self.drawn.accepted and tensors >= MANY
        }

    @property
    def shown(self) -> list[str]:
        """The known issues that it met, and that their examples show."""
        return sorted(self.drawn.known.keys() & self.examples.keys())

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

    def examined(self, examined: KnownRetried) -> None:
        """What of the known still breaks."""
        if examined.subject in self.of:
            self.of[examined.subject].breaks = examined.breaks
            self.of[examined.subject].examples = examined.examples

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
        """Each known issue that may apply to a subject: how often it was met, and whether it still breaks."""
        return tuple(
            KnownMet(
                id=issue.id,
                title=issue.title,
                generation=issue.generation,
                subject=name,
                count=each.drawn.known.get(issue.id, 0),
                breaks=each.breaks.get(issue.id),
                because=issue.because,
                link=issue.link,
                since=issue.since,
                until=issue.until,
                severity=each.drawn.severities.get(issue.id),
                folder=known_folder(name, issue.id) if issue.id in each.shown else "",
                mended_after=self._mended_after(each, issue),
            )
            for name, each in self.of.items()
            for issue in self._of(each)
        )

    def reach(self) -> dict[str, tuple[FileReached, ...]]:
        """How far into each file of a subject's cloning code its trials came, where that was counted."""
        return {
            name: tuple(
                file_reached(file, statements, each.drawn.reached.get(file, ()))
                for file, statements in each.met.statements.items()
            )
            for name, each in self.of.items()
            if each.met.statements
        }

    def _mended_after(self, each: SubjectTotals, issue: KnownIssue) -> str:
        """The release after which an issue was mended, as its example shows; "" where it was not, or not later.

        The list was read on the default backend: on another one, an issue may never have been there. It is mended there
        where its entry says so.
        """
        gone = each.breaks.get(issue.id) is False and not each.drawn.known.get(issue.id)
        had = issue.until is not None or Subject.parse(each.met.subject).on_default_backend
        return self._known.mended_after(issue, each.met.keras) if gone and had else ""

    def _of(self, each: SubjectTotals) -> list[KnownIssue]:
        generation = Subject.parse(each.met.subject).generation
        release = each.met.keras
        cloners = {*each.breaks, *each.drawn.known}
        mended = self._known.told_mended(generation, release)
        return [issue for issue in mended if each.breaks.get(issue.id) is False] + [
            issue
            for cloner in dict.fromkeys(issue.cloner for issue in self._known.issues)
            for issue in self._known.on(generation, release, cloner).issues
            if issue.cloner == "upstream" or issue.id in cloners
        ]
