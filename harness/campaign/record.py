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
from clonediff.reports.records import Counts, Finding, Run
from clonediff.reports.run_folder import RunFolder, folder_name

EVERY = 5.0
"""The seconds after which run.json is written again."""


@dataclass
class Record:
    """What a campaign came to: `run`, and the findings by their folders.

    `say` hears of a finding that is seen first, or is as small as it gets; `warn` of what goes wrong; `show` of the
    seconds that are left and the titles of what is made smaller.
    """

    folder: RunFolder
    run: Run
    corpus: NightlyCorpus
    say: Callable[[Finding], None]
    warn: Callable[[str], None]
    show: Callable[[Record, float, list[str]], None]
    findings: dict[str, Finding] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    def add(self, subject: str, result: Result) -> None:
        """Add the counts of a task, and what it could not build."""
        self.run.versions[subject] = result.versions
        self.run.counts[subject] = self.run.counts.get(subject, Counts()).plus(result.counts)
        for why, graph in result.refused.items():
            self.folder.refused(subject, why, graph)
        if time.monotonic() - self.began > self.run.seconds + EVERY:
            self.write()

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
        """Give up a subject."""
        self.run.lost[subject] = reason
        self.warn(reason)

    def fail(self, failure: str) -> None:
        """A task could not be done."""
        self.run.failures.append(failure)
        self.warn(failure)

    def write(self) -> None:
        """Write run.json."""
        self.run.seconds = round(time.monotonic() - self.began, 1)
        self.folder.run(self.run)
