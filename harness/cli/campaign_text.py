"""A campaign's output: progress, findings and result."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from clonediff.harness.campaign.record import Record
from clonediff.harness.cli.terminal import Progress, estimate, say, say_table
from clonediff.reports.known import KnownIssues
from clonediff.reports.markup import one_line
from clonediff.reports.records import EFFECTS, Finding
from clonediff.reports.run_folder import StoredRun
from clonediff.reports.verdict import (
    NEW,
    duration,
    graphs_by_severity,
    group_findings,
    known_causes,
    quantity,
    refusals,
    run_text,
    verdict,
    versions_text,
)

MAX_CAUSES = 10
MAX_REFUSALS = 5
"""How many known causes, and reasons for refused graphs, are printed."""
FINDING_FIELDS = ("id", "title", "subject", "cloner", "count", "proof", "smallest")
CAUSE_FIELDS = ("id", "title", "graphs", "worse")
"""The fields that `--json` prints of a finding, and of a known cause."""


class CampaignProgress(Progress):
    """Prints progress to standard error and, unless `quiet`, findings to standard output."""

    corpus_size = 0
    """The number of graphs in the corpus, which are tried first."""

    def say_finding(self, finding: Finding) -> None:
        state = f"reduced ({finding.confirmation})" if finding.smallest else "found"
        if not self._quiet:
            self.say(one_line(f"{state}: {finding.title} [{finding.cloner_or_original}: {finding.id}]"))

    def warn(self, problem: str) -> None:
        self.say(f"clonediff: {problem}", err=True)

    def show_progress(self, record: Record, seconds_left: float, titles: list[str]) -> None:
        """Show the state of a campaign, and what is being reduced."""
        self.show(lambda: ", ".join(self._progress_items(record, seconds_left, titles)))

    def _progress_items(self, record: Record, seconds_left: float, titles: list[str]) -> list[str]:
        run, total = record.run, record.run.total
        if not total.trials:
            return ["starting"]
        rate = [f"{total.trials / run.seconds:.1f} a second"] if run.seconds else []
        findings = quantity(len(record.findings), "finding")
        parts = [quantity(total.trials, "trial"), *rate, findings, quantity(len(total.known), "known cause")]
        if titles:
            parts.append(f"reducing: {titles[0][:60]}")
        if math.isfinite(seconds_left):
            parts.append(f"{duration(seconds_left)} left" if seconds_left > 0 else "finishing")
        elif run.trials is not None and total.graphs:
            graphs = self.corpus_size + run.trials * len(run.counts)
            parts.append(f"{total.graphs:,} of {graphs:,} graphs{estimate(total.graphs, graphs, self.seconds)}")
        return parts


def summary(result: StoredRun, known: KnownIssues) -> dict[str, Any]:
    """The result of a run, as `--json` prints it."""
    run_verdict, run, total = verdict(result), result.run, result.run.total
    return {
        "headline": run_verdict.headline,
        "sentences": run_verdict.sentences,
        "notes": run_verdict.notes,
        "worst": graphs_by_severity(run),
        "folder": str(result.path),
        "trials": total.trials,
        "graphs": total.graphs,
        "known_causes": [
            {**{field: getattr(cause, field) for field in CAUSE_FIELDS}, "severity": cause.severity.word}
            for cause in known_causes(run, known)
        ],
        "findings": [
            {**{field: getattr(item.finding, field) for field in FINDING_FIELDS}, "folder": str(item.folder)}
            for item in result.findings
        ],
        "run": msgspec.to_builtins(run),
    }


def say_run(result: StoredRun, known: KnownIssues) -> None:
    """Print the verdict on a run, known causes and new findings."""
    run_verdict, run = verdict(result), result.run
    say(["", f"{run_verdict.headline}.", *run_verdict.sentences, *(f"{note}." for note in run_verdict.notes), ""])
    causes = known_causes(run, known)
    if causes:
        rows = [
            (f"{cause.graphs:,}", EFFECTS[cause.severity], f"{cause.worse:,}", f"{cause.title} [{cause.id}]")
            for cause in causes[:MAX_CAUSES]
        ]
        say_table(("graphs", "the clone", "worse on", "known cause"), rows)
        more = f"{len(causes) - MAX_CAUSES} more in the report; " if len(causes) > MAX_CAUSES else ""
        say(["", f"{more}`clonediff repro ID` prints a script", ""])
    if new := len(group_findings(result.findings)[NEW]):
        say([f"{new} new, each with its script in {result.path}/findings", ""])
    say(list(refusals(run))[:MAX_REFUSALS])
    say(f"{subject} ({versions_text(versions)})" for subject, versions in run.versions.items())
    say([run_text(run), f"report: {result.path}/report.html"])
