"""The record of a campaign: its counts and findings, and the run's folder that they are written to as they grow.

Only sums are in memory, however long the campaign runs. A finding is written when it is seen, and again when it is
smaller. Whoever reads the folder meanwhile reads whole files.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.harness.campaign.shards import ShardResult
from clonediff.reports.records import Counts, Finding, Run
from clonediff.reports.run_folder import RunFolder

EVERY = 5.0
"""The seconds after which run.json is written again."""


class Record:
    """What a campaign came to: `run`, and the findings by their folders.

    `say` hears of a finding that is seen first, or is as small as it gets; `warn` of what goes wrong.
    """

    def __init__(
        self,
        folder: RunFolder,
        run: Run,
        corpus: NightlyCorpus,
        say: Callable[[Finding], None],
        warn: Callable[[str], None],
    ) -> None:
        self.run = run
        self.findings: dict[str, Finding] = {}
        self.warn = warn
        self._say = say
        self._folder = folder
        self._corpus = corpus
        self._began = time.monotonic()

    def count(self, subject: str, counts: Counts) -> None:
        """Add the counts of a task."""
        self.run.counts[subject] = self.run.counts.get(subject, Counts()).plus(counts)
        if time.monotonic() - self._began > self.run.seconds + EVERY:
            self.write()

    def shard(self, subject: str, result: ShardResult) -> None:
        """Add a shard."""
        self.run.versions[subject] = result.versions
        for why, graph in result.refused.items():
            self._folder.refused(subject, why, graph)
        self.count(subject, result.counts)

    def found(self, finding: Finding) -> None:
        """Write a finding that is new, or another than before, and keep its graph for other nights."""
        name = self._folder.of(finding).name
        before = self.findings.get(name)
        if finding == before:
            return
        self.findings[name] = finding
        self._folder.finding(finding)
        if before is None or bytes(before.graph) != bytes(finding.graph):
            self._corpus.keep(finding)
            if before is not None:
                self._corpus.drop(before)
        if before is None or finding.smallest > before.smallest:
            self._say(finding)

    def withdraw(self, finding: Finding) -> None:
        """Take back a finding that did not show again."""
        self.findings.pop(self._folder.of(finding).name, None)
        self._folder.withdraw(finding)
        self._corpus.drop(finding)
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
        self.run.seconds = round(time.monotonic() - self._began, 1)
        self._folder.run(self.run)
