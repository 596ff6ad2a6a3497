"""What a campaign comes to so far, subject by subject, and the records that say so.

Kept small: a sum for each thing, however long the campaign runs. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from clonediff.harness.campaign.reach import file_reached
from clonediff.harness.campaign.shards import (
    Example,
    KnownRetried,
    RefusedGraph,
    ShardDone,
    SubjectStarted,
    count_refused,
)
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.coverage import REFUSED, Counting
from clonediff.reports.known import KnownIssue, KnownIssues
from clonediff.reports.records import Cost, Draws, FileReached, Finding, KnownMet
from clonediff.reports.run_folder import known_folder

MANY = 5
"""A kind that was proposed on fewer tensors, none of which Keras accepted, is not told of."""

FindingKey = tuple[str, str, str, tuple[str, ...]]


@dataclass(slots=True)
class SubjectTotals:
    """Of one subject. `drawn` are trials of shards, `settling` those for making findings smaller.

    `seconds` and `shrinking` are the workers' time that each of these took. `states` counts the drawn graphs to which
    something costly is done before they are cloned, `stating` is the time that these took.
    """

    met: SubjectStarted
    drawn: int = 0
    settling: int = 0
    costly: int = 0
    states: int = 0
    stating: float = 0.0
    refusals: dict[str, RefusedGraph] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)
    kinds_refused: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    shrinking: float = 0.0
    restarts: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    worst: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    costs: dict[str, Cost] = field(default_factory=dict)
    breaks: dict[str, bool | None] = field(default_factory=dict)
    examples: dict[str, Example] = field(default_factory=dict)
    compared: Counter[str] = field(default_factory=Counter)
    not_compared: dict[str, Counter[str]] = field(default_factory=dict)
    reached: dict[str, set[int]] = field(default_factory=dict)
    accepted: set[str] = field(default_factory=set)
    proposed: Counter[str] = field(default_factory=Counter)
    exceptions: dict[str, str] = field(default_factory=dict)

    @property
    def not_accepted(self) -> dict[str, str]:
        """The kinds of which the release accepted no call, on however many tensors, with the last exception."""
        never = ((kind, why) for kind, why in sorted(self.exceptions.items()) if kind not in self.accepted)
        return {kind: why for kind, why in never if self.proposed[kind] >= MANY}

    @property
    def trials(self) -> int:
        """All that were run."""
        return self.drawn + self.settling

    def add(self, done: ShardDone) -> None:
        """Add a shard."""
        self.drawn += done.trials
        self.costly += done.costly
        self.states += done.states
        self.stating += done.stating
        for each in done.refusals:
            count_refused(self.refusals, each)
        self.kinds.update(done.coverage.kinds)
        self.kinds_refused.update({kind: its.get(REFUSED, 0) for kind, its in done.coverage.met.items()})
        self.seconds += done.seconds
        self.restarts += done.restarts
        self.verdicts.update(done.verdicts)
        self.worst.update(done.worst)
        self.known.update(done.known)
        for name, cost in done.costs.items():
            self.costs[name] = min(cost, self.costs.get(name, cost))
        self.compared.update(done.compared)
        for name, why in done.not_compared.items():
            self.not_compared.setdefault(name, Counter()).update(why)
        for name, lines in done.reached.items():
            self.reached.setdefault(name, set()).update(lines)
        self.accepted.update(done.accepted)
        for kind, (tensors, exception) in done.not_accepted.items():
            self.proposed[kind] += tensors
            self.exceptions[kind] = exception

    def draws(self) -> Draws:
        """What it was given to try, for the record."""
        often = sorted(self.kinds[each] for each in self.met.layers if each in self.kinds)
        least, middle, most = ((often or [0])[(len(often) - 1) * part // 10] for part in (1, 5, 9))
        return Draws(
            graphs=self.drawn,
            refused=sum(each.graphs for each in self.refusals.values()),
            reasons={each.why: each.graphs for each in sorted(self.refusals.values(), key=lambda its: -its.graphs)},
            kinds={
                kind: (refused, self.kinds[kind])
                for kind, refused in sorted(self.kinds_refused.items())
                if self.kinds[kind] >= 5 and 2 * refused > self.kinds[kind]
            },
            classes=len(often),
            often=(least, middle, most),
            never=tuple(each for each in self.met.layers if each not in self.kinds),
            not_accepted=self.not_accepted,
        )


def key_of(finding: Finding) -> FindingKey:
    """What makes two findings of a campaign the same one."""
    return finding.subject, finding.cloner, finding.id, finding.across


class Totals:
    """Of all subjects, with the findings by subject, cloner and fingerprint."""

    def __init__(self, known: KnownIssues) -> None:
        self.of: dict[str, SubjectTotals] = {}
        self.lost: dict[str, str] = {}
        self.findings: dict[FindingKey, Finding] = {}
        self.unsteady: list[str] = []
        self.coverage = Counting()
        self._known = known

    def meet(self, met: SubjectStarted) -> None:
        """A subject that is tried."""
        if met.subject not in self.of:
            self.of[met.subject] = SubjectTotals(met)

    def shard(self, done: ShardDone) -> None:
        """A shard that was tried."""
        if done.subject in self.of:
            self.of[done.subject].add(done)
            self.coverage.include(done.coverage)

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

    def shrunk(self, subject: str, trials: int, seconds: float) -> None:
        """What making a finding smaller took."""
        if subject in self.of:
            self.of[subject].settling += trials
            self.of[subject].shrinking += seconds

    @property
    def trials(self) -> int:
        """All that were run."""
        return sum(each.trials for each in self.of.values())

    @property
    def verdicts(self) -> dict[str, int]:
        """How often each cloner had each verdict."""
        return dict(sorted(sum((each.verdicts for each in self.of.values()), Counter[str]()).items()))

    @property
    def worst(self) -> dict[str, int]:
        """On how many graphs each cloner did nothing worse than this."""
        return dict(sorted(sum((each.worst for each in self.of.values()), Counter[str]()).items()))

    @property
    def known(self) -> dict[str, int]:
        """How often each known issue was met."""
        return dict(sum((each.known for each in self.of.values()), Counter[str]()))

    def news(self) -> list[Finding]:
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
                count=each.known.get(issue.id, 0),
                breaks=each.breaks.get(issue.id),
                because=issue.because,
                link=issue.link,
                since=issue.since,
                until=issue.until,
                cost=each.costs.get(issue.id),
                folder=known_folder(name, issue.id) if issue.id in each.examples and each.known.get(issue.id) else "",
            )
            for name, each in self.of.items()
            for issue in self._of(each)
        )

    def reach(self) -> dict[str, tuple[FileReached, ...]]:
        """How far into each file of a subject's cloning code its trials came, where that was counted."""
        return {
            name: tuple(
                file_reached(file, statements, each.reached.get(file, ()))
                for file, statements in each.met.statements.items()
            )
            for name, each in self.of.items()
            if each.met.statements
        }

    def _of(self, each: SubjectTotals) -> list[KnownIssue]:
        generation = Subject.parse(each.met.subject).generation
        release = each.met.keras
        cloners = {*each.breaks, *each.known}
        return [
            issue
            for cloner in dict.fromkeys(issue.cloner for issue in self._known.issues)
            for issue in self._known.on(generation, release, cloner).issues
            if issue.cloner == "upstream" or issue.id in cloners
        ]


def compared(sum_: SubjectTotals) -> list[str]:
    """A line for each subject that it was compared with."""
    return [
        f"compared with {name}: {count} graphs" + _not_compared(sum_.not_compared.get(name, {}))
        for name, count in sum_.compared.items()
    ]


def _not_compared(why: Mapping[str, int]) -> str:
    said = ", ".join(f"{count} {reason}" for reason, count in Counter(why).most_common())
    return f"; not compared: {said}" if said else ""
