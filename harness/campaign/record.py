"""A campaign's record: its counts and findings, written during the run.

A finding is written immediately, and again when it is reduced. Files are replaced atomically.
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

SAVE_SECONDS, REPORT_SECONDS = 5.0, 60.0
"""The seconds between two writes of run.json, and of the reports."""


@dataclass
class Record:
    """The `run` with the counts of a campaign, and its findings by folder.

    `on_finding` is called with a new or fully reduced finding, `on_problem` with a message, and `on_progress` with
    this record, the seconds left, and the titles of the findings that are being reduced.
    """

    folder: RunFolder
    run: Run
    corpus: NightlyCorpus
    known: KnownIssues
    on_finding: Callable[[Finding], None]
    on_problem: Callable[[str], None]
    on_progress: Callable[[Record, float, list[str]], None]
    findings: dict[str, Finding] = field(default_factory=dict)
    start: float = field(default_factory=time.monotonic)
    last_report: float = 0.0

    def add(self, subject: str, result: Result) -> None:
        """Add a task's counts, and its refused and failed graphs."""
        self.run.versions[subject] = result.versions
        self.run.counts[subject] = self.run.counts.get(subject, Counts()).plus(result.counts)
        for kind, graphs in (("refused", result.refused_examples), ("faults", result.fault_examples)):
            for reason, graph in graphs.items():
                self.folder.write_example(kind, subject, reason, graph)

    def add_finding(self, finding: Finding) -> None:
        """Write a new or changed finding, and store it in the corpus."""
        name = folder_name(finding)
        old_finding = self.findings.get(name)
        if finding == old_finding:
            return
        self.findings[name] = finding
        self.folder.write_finding(finding)
        self.corpus.write(finding)
        if old_finding is None or finding.smallest > old_finding.smallest:
            self.on_finding(finding)

    def remove_finding(self, finding: Finding) -> None:
        """Remove a flaky finding: its graph did not show it again."""
        self.findings.pop(folder_name(finding), None)
        self.folder.withdraw(finding)
        self.corpus.remove(finding)
        self.run.flaky.append(f"{finding.subject}: {finding.title}")
        self.on_problem(f"not counted, since it did not show again: {self.run.flaky[-1]}")

    def give_up(self, subject: str, reason: str) -> None:
        self.run.lost[subject] = reason
        self.on_problem(reason)

    def add_failure(self, failure: str) -> None:
        self.run.failures.append(failure)
        self.on_problem(failure)

    def update(self, seconds_left: float, titles: list[str]) -> None:
        """Report the progress; at intervals, write the run and its reports."""
        self.on_progress(self, seconds_left, titles)
        seconds = time.monotonic() - self.start
        if seconds > self.run.seconds + SAVE_SECONDS:
            self.write()
        if seconds > self.last_report + REPORT_SECONDS:
            self.last_report = seconds
            write_reports(read_run(self.folder.path), self.known)

    def write(self) -> None:
        self.run.seconds = round(time.monotonic() - self.start, 1)
        self.folder.write_run(self.run)
