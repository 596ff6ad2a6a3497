"""The totals of a campaign, and the run's folder that they are written to as they grow.

Only sums are in memory, however long the campaign runs. A finding is written when it is seen, and again when it is
smaller. Whoever reads the folder meanwhile reads whole files.
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.harness.campaign.shards import FindingWithScript, Plan, Reduction, ShardResult
from clonediff.harness.source.other_layers import is_other
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import About, Draws, Finding, KnownMet, Run
from clonediff.reports.run_folder import RunFolder
from clonediff.strategies.graph import from_json
from clonediff.strategies.kinds.operations import is_operation

EVERY = 5.0
"""The seconds after which run.json is written again."""
MANY = 5
"""A layer that Keras never accepted is reported once it was tried on so many tensors."""


class Watcher(Protocol):
    """Shows a campaign to a person while it runs."""

    def found(self, finding: Finding) -> None:
        """A finding is seen first, or is as small as it gets."""

    def unsteady(self, finding: Finding) -> None:
        """A finding did not show again."""

    def warn(self, problem: str) -> None:
        """Something went wrong."""

    def progress(self, record: Record, left: float | None, reducing: list[str]) -> None:
        """Time passes: the seconds that are left, and the titles of what is made smaller."""


@dataclass(slots=True)
class SubjectTotals:
    """Sums of a subject. `reducing` are the trials for making findings smaller, and `seconds` what they took."""

    drawn: ShardResult = field(default_factory=ShardResult)
    reducing: int = 0
    seconds: float = 0.0

    @property
    def trials(self) -> int:
        """All trials."""
        return self.drawn.trials + self.reducing

    def draws(self) -> Draws:
        """The graphs that were drawn, for the record."""
        drawn = self.drawn
        return Draws(
            graphs=drawn.trials,
            refused=sum(refused.graphs for refused in drawn.refusals),
            reasons={refused.why: refused.graphs for refused in sorted(drawn.refusals, key=lambda each: -each.graphs)},
            not_accepted={
                kind: why
                for kind, (tensors, why) in sorted(drawn.not_accepted.items())
                if kind not in drawn.accepted and tensors >= MANY and is_other(kind) and not is_operation(kind)
            },
        )


class Record:
    """The totals by subject, and the findings by their folders. `watcher` hears of all that is new."""

    def __init__(self, folder: RunFolder, plan: Plan, corpus: NightlyCorpus, jobs: int, watcher: Watcher) -> None:
        self.folder = folder
        self.subjects: dict[str, SubjectTotals] = {}
        self.lost: dict[str, str] = {}
        self.findings: dict[str, Finding] = {}
        self.unsteady_titles: list[str] = []
        self.warn = watcher.warn
        self._plan = plan
        self._corpus = corpus
        self._jobs = jobs
        self._watcher = watcher
        self._written = 0.0

    @property
    def drawn(self) -> ShardResult:
        """The sums of all subjects."""
        return functools.reduce(ShardResult.plus, (totals.drawn for totals in self.subjects.values()), ShardResult())

    @property
    def trials(self) -> int:
        """All trials."""
        return sum(totals.trials for totals in self.subjects.values())

    @property
    def new(self) -> list[Finding]:
        """The findings that count: all but those whose script does not fail alone."""
        return [finding for finding in self.findings.values() if finding.proof is not False]

    def progress(self, left: float | None, reducing: list[str]) -> None:
        """Show where it is."""
        self._watcher.progress(self, left, reducing)

    def shard(self, result: ShardResult) -> None:
        """Add a shard."""
        if result.subject not in self.subjects:
            self.folder.event("subject", subject=result.subject, versions=result.versions)
        totals = self.subjects.setdefault(result.subject, SubjectTotals())
        totals.drawn = totals.drawn.plus(result)
        if result.refusals:
            for refused in totals.drawn.refusals:
                self.folder.refused(result.subject, refused.why, bytes(refused.graph))
        self.folder.event("progress", trials=self.trials)
        if time.monotonic() - self._written > EVERY:
            self.write()

    def reduced(self, subject: str, reduction: Reduction) -> None:
        """Add the trials and the time of making a finding smaller."""
        self.subjects[subject].reducing += reduction.trials
        self.subjects[subject].seconds += reduction.seconds

    def found(self, new: FindingWithScript) -> None:
        """Write a finding that is new, or another than before, and keep its graph for other nights."""
        finding, name = new.finding, self.folder.of(new.finding).name
        before = self.findings.get(name)
        if finding != before:
            self.findings[name] = finding
            self.folder.finding(finding, new.script)
        if before is None or finding.smallest > before.smallest:
            self._watcher.found(finding)
            self.folder.event("finding", id=finding.id, subject=finding.subject, cloner=finding.cloner)
        generation = Subject.parse(finding.subject).generation
        if before is None or bytes(before.graph) != bytes(finding.graph):
            if before is not None:
                self._corpus.drop(generation, from_json(bytes(before.graph), "`$.graph`"), finding.id)
            about = About((finding.id,), finding.title, finding.subject, finding.cloner)
            self._corpus.keep(generation, from_json(bytes(finding.graph), "`$.graph`"), about)

    def unsteady(self, finding: Finding) -> None:
        """Take back a finding that did not show again."""
        self.findings.pop(self.folder.of(finding).name, None)
        self.folder.withdraw(finding)
        generation = Subject.parse(finding.subject).generation
        self._corpus.drop(generation, from_json(bytes(finding.graph), "`$.graph`"), finding.id)
        self.unsteady_titles.append(f"{finding.subject}: {finding.title}")
        self.folder.event("unsteady", subject=finding.subject, title=finding.title)
        self._watcher.unsteady(finding)

    def lose(self, subject: str, reason: str) -> None:
        """Give up a subject."""
        self.lost[subject] = reason
        self.folder.event("lost", subject=subject, reason=reason)
        self.warn(reason)

    def write(self, *, ended: bool = False, interrupted: bool = False) -> None:
        """Write run.json."""
        self._written = time.monotonic()
        plan, drawn = self._plan, self.drawn
        draws = {name: totals.draws() for name, totals in self.subjects.items()}
        self.folder.run(
            Run(
                started=plan.started,
                subjects={name: totals.drawn.versions for name, totals in self.subjects.items()},
                seed=plan.seed,
                trials=self.trials,
                verdicts=dict(sorted(drawn.verdicts.items())),
                worst=dict(sorted(drawn.worst.items())),
                at_least=plan.setup.at_least,
                findings=tuple(finding.id for finding in self.findings.values()),
                ended=datetime.now(UTC).isoformat(timespec="seconds") if ended else None,
                interrupted=interrupted,
                budget=plan.budget,
                jobs=self._jobs,
                cloners=plan.setup.cloners,
                drawn=drawn.trials,
                refused=sum(each.refused for each in draws.values()),
                drawing=round(drawn.seconds, 1),
                reducing=round(sum(totals.seconds for totals in self.subjects.values()), 1),
                lost=self.lost,
                draws=draws,
                known=self._known_met(),
                clonediff=plan.setup.clonediff,
            )
        )

    def _known_met(self) -> tuple[KnownMet, ...]:
        return tuple(
            KnownMet(
                id=issue.id,
                title=issue.title,
                generation=issue.generation,
                subject=name,
                count=totals.drawn.known[issue.id],
                because=issue.because,
                link=issue.link,
                since=issue.since,
                until=issue.until,
                severity=totals.drawn.severities.get(issue.id),
            )
            for name, totals in self.subjects.items()
            for issue in KnownIssues(self._plan.setup.known).issues
            if issue.id in totals.drawn.known
        )
