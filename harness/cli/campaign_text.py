"""What a person reads of a campaign: where it is, what it finds, and what it came to."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from clonediff.harness.campaign.record import Record
from clonediff.harness.cli.terminal import Progress, estimate, say, say_table
from clonediff.reports.known import KnownIssues
from clonediff.reports.markup import one_line
from clonediff.reports.reading import RunRead
from clonediff.reports.records import DOES, Finding
from clonediff.reports.verdict import (
    NEW,
    by_worst,
    grouped,
    in_words,
    known_causes,
    lasted,
    ran,
    refusals,
    some,
    verdict,
)

CAUSES = 10
"""The known causes that a screen has room for."""
LINES = 5
"""The reasons of refused graphs, and the new findings, that it has room for."""
FIELDS = ("id", "title", "subject", "cloner", "count", "proof", "smallest")
CAUSE_FIELDS = ("id", "title", "graphs", "worse")
"""What `--json` prints of a finding, and of a known cause."""


class CampaignText(Progress):
    """Progress goes to standard error, what was found to standard output, unless `quiet`."""

    stored = 0
    """How many graphs of the corpus are tried first."""

    def found(self, finding: Finding) -> None:
        """A finding is seen first, or is as small as it gets."""
        when = f"as small as it gets ({finding.alone})" if finding.smallest else "found"
        if not self._quiet:
            self.say(one_line(f"{when}: {finding.title} [{finding.who}: {finding.id}]"))

    def warn(self, problem: str) -> None:
        """Something went wrong."""
        self.say(f"clonediff: {problem}", err=True)

    def progress(self, record: Record, left: float, reducing: list[str]) -> None:
        """Show where it is, with an estimate."""
        self.show(lambda: ", ".join(self._parts(record, left, reducing)))

    def _parts(self, record: Record, left: float, reducing: list[str]) -> list[str]:
        run, total = record.run, record.run.total
        if not total.trials:
            return ["starting"]
        rate = [f"{total.trials / run.seconds:.1f} a second"] if run.seconds else []
        found = some(len(record.findings), "finding")
        parts = [some(total.trials, "trial"), *rate, found, some(len(total.known), "known cause")]
        if reducing:
            parts.append(f"making smaller: {reducing[0][:60]}")
        if math.isfinite(left):
            parts.append(f"{lasted(left)} left" if left > 0 else "finishing")
        elif run.trials is not None and total.graphs:
            graphs = self.stored + run.trials * len(run.counts)
            parts.append(f"{total.graphs:,} of {graphs:,} graphs{estimate(total.graphs, graphs, self.seconds)}")
        return parts


def summary(read: RunRead, known: KnownIssues) -> dict[str, Any]:
    """The result for a script, as `--json` prints it."""
    text, run, total = verdict(read), read.run, read.run.total
    return {
        "headline": text.headline,
        "holds": text.others,
        "notes": text.notes,
        "worst": by_worst(run),
        "folder": str(read.path),
        "trials": total.trials,
        "drawn": total.graphs,
        "broken": [
            {**{field: getattr(cause, field) for field in CAUSE_FIELDS}, "severity": cause.severity.word}
            for cause in known_causes(run, known)
        ],
        "findings": [
            {**{field: getattr(stored.finding, field) for field in FIELDS}, "folder": str(stored.folder)}
            for stored in read.findings
        ],
        "run": msgspec.to_builtins(run),
    }


def say_run(read: RunRead, known: KnownIssues) -> None:
    """The result for a person: what is broken, what is new and what holds."""
    text, run = verdict(read), read.run
    say(["", f"{text.headline}.", *text.others, *(f"{note}." for note in text.notes), ""])
    causes = known_causes(run, known)
    if causes:
        rows = [
            (f"{cause.graphs:,}", DOES[cause.severity], f"{cause.worse:,}", f"{cause.title} [{cause.id}]")
            for cause in causes[:CAUSES]
        ]
        say_table(("graphs", "the clone", "worse on", "known cause"), rows)
        more = f"{len(causes) - CAUSES} more: in the report; " if len(causes) > CAUSES else ""
        say(["", f"{more}`clonediff repro ID` prints a script", ""])
    if new := len(grouped(read.findings)[NEW]):
        say([f"{new} new, each with its script in {read.path}/findings", ""])
    say(list(refusals(run))[:LINES])
    say(f"{subject} ({in_words(versions)})" for subject, versions in run.versions.items())
    say([ran(run), f"All of it: {read.path}/report.html"])
