"""The record of a campaign: its counts and findings, and the run's folder that they are written to as they grow.

Only sums are in memory, however long the campaign runs. A finding is written when it is seen, and again when it is
smaller. Whoever reads the folder meanwhile reads whole files.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.harness.campaign.shards import Result
from clonediff.reports.documents import write_reports
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import Counts, Finding, Run
from clonediff.reports.run_folder import RunFolder, folder_name, read_run

EVERY, REPORTS = 5.0, 60.0
"""The seconds after which run.json is written again, and after which the reports are."""


@dataclass
class Record:
    """What a campaign came to: `run`, and the findings by their folders.

    `say` hears of a finding that is seen first, or is as small as it gets; `warn` of what goes wrong; `watch` of the
    seconds that are left and the titles of what is made smaller.
    """

    folder: RunFolder
    run: Run
    corpus: NightlyCorpus
    known: KnownIssues
    say: Callable[[Finding], None]
    warn: Callable[[str], None]
    watch: Callable[[Record, float, list[str]], None]
    findings: dict[str, Finding] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    reported: float = 0.0

    def add(self, subject: str, result: Result) -> None:
        """Add the counts of a task, and what it could not build or try."""
        self.run.versions[subject] = result.versions
        self.run.counts[subject] = self.run.counts.get(subject, Counts()).plus(result.counts)
        for sort, graphs in (("refused", result.refused), ("faults", result.faulty)):
            for why, graph in graphs.items():
                self.folder.example(sort, subject, why, graph)

    def found(self, finding: Finding) -> None:
        """Write a finding that is new, or another than before, and keep its graph for other nights."""
        name = folder_name(finding)
        before = self.findings.get(name)
        if finding == before:
            return
        self.findings[name] = finding
        self.folder.finding(finding)
        self.corpus.write(finding)
        if before is None or finding.smallest > before.smallest:
            self.say(finding)

    def withdraw(self, finding: Finding) -> None:
        """Take back a finding that did not show again."""
        self.findings.pop(folder_name(finding), None)
        self.folder.withdraw(finding)
        self.corpus.remove(finding)
        self.run.unsteady.append(f"{finding.subject}: {finding.title}")
        self.warn(f"not counted, since it did not show again: {self.run.unsteady[-1]}")

    def lose(self, subject: str, reason: str) -> None:
        self.run.lost[subject] = reason
        self.warn(reason)

    def fail(self, failure: str) -> None:
        self.run.failures.append(failure)
        self.warn(failure)

    def show(self, left: float, reducing: list[str]) -> None:
        """Show where the run is, and write it now and then, so that whatever ends it leaves reports."""
        self.watch(self, left, reducing)
        seconds = time.monotonic() - self.began
        if seconds > self.run.seconds + EVERY:
            self.write()
        if seconds > self.reported + REPORTS:
            self.reported = seconds
            write_reports(read_run(self.folder.path), self.known)

    def write(self) -> None:
        self.run.seconds = round(time.monotonic() - self.began, 1)
        self.folder.run(self.run)
