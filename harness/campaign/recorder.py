"""Writes a campaign into its run's folder as it happens.

Owns when each file is written. Whoever reads the folder meanwhile sees whole files.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import UTC, datetime

from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.harness.campaign.events import (
    Event,
    Found,
    ShardEnded,
    ShardLost,
    SubjectLost,
    Unsteady,
)
from clonediff.harness.campaign.shard_queue import ShardQueue
from clonediff.harness.campaign.shards import MadeSmaller, Plan, ShardDone, SubjectStarted
from clonediff.harness.campaign.totals import FindingKey, Totals, key_of
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.records import About, Finding, Run
from clonediff.reports.run_folder import RunFolder
from clonediff.strategies.graph import from_json

EVERY = 5.0
"""The seconds after which run.json is written again."""


class Recorder:
    """A listener. `totals` is what it has heard so far."""

    def __init__(self, folder: RunFolder, plan: Plan, totals: Totals, corpus: NightlyCorpus | None, jobs: int) -> None:
        self.totals = totals
        self._folder = folder
        self._plan = plan
        self._corpus = corpus
        self._jobs = jobs
        self._written = 0.0
        self._told: set[FindingKey] = set()

    def __call__(self, event: Event) -> None:
        """Write what there is to write of it."""
        totals, folder = self.totals, self._folder
        match event:
            case SubjectStarted():
                totals.meet(event)
                folder.event("subject", subject=event.subject, versions=event.versions)
            case SubjectLost(subject=subject, reason=reason):
                totals.lost[subject] = reason
                folder.event("lost", subject=subject, reason=reason)
            case ShardEnded(done=done):
                totals.shard(done)
                self._keep_refused(done)
                folder.event("progress", trials=totals.trials)
            case ShardLost(subject=subject, turn=turn, reason=reason):
                folder.event("shard lost", subject=subject, turn=turn, reason=reason)
            case MadeSmaller(subject=subject, trials=trials, seconds=seconds):
                totals.reduced(subject, trials, seconds)
            case Found(finding=finding, script=script):
                self._found(finding, script)
            case Unsteady(subject=subject, title=title, seen=seen):
                totals.unsteady.append(f"{subject}: {title}")
                if seen is not None:
                    totals.taken_back(seen)
                    folder.withdraw(seen)
                folder.event("unsteady", subject=subject, title=title)
            case _:
                pass
        if time.monotonic() - self._written > EVERY:
            self.write()

    def write(self, ended: str | None = None, *, interrupted: bool = False) -> None:
        """Write run.json."""
        self._written = time.monotonic()
        totals, plan = self.totals, self._plan
        drawn, draws = totals.drawn, {name: each.draws() for name, each in totals.of.items()}
        self._folder.run(
            Run(
                started=plan.started,
                subjects={name: each.met.versions for name, each in totals.of.items()},
                seed=plan.seed,
                trials=totals.trials,
                verdicts=dict(sorted(drawn.verdicts.items())),
                worst=dict(sorted(drawn.worst.items())),
                at_least=plan.setup.at_least,
                findings=tuple(finding.id for finding in totals.findings.values()),
                ended=ended,
                interrupted=interrupted,
                budget=plan.budget,
                jobs=self._jobs,
                cloners=plan.setup.cloners,
                drawn=drawn.trials,
                refused=sum(each.refused for each in draws.values()),
                drawing=round(drawn.seconds, 1),
                reducing=round(sum(each.reducing for each in totals.of.values()), 1),
                lost=totals.lost,
                draws=draws,
                known=totals.known_met(),
                clonediff=plan.clonediff,
            )
        )

    def finish(self, queues: Iterable[ShardQueue], *, interrupted: bool) -> None:
        """Write what is left: what there was no time to make smaller, how often each was met, and the end."""
        for shard_queue in queues:
            for case in shard_queue.cases.values():
                if case.latest is None:
                    continue
                self._found(case.latest.finding, case.latest.script)
                if not case.latest.finding.smallest:
                    self._keep(case.latest.finding)
        self._folder.event("end", interrupted=interrupted, trials=self.totals.trials)
        self.write(datetime.now(UTC).isoformat(timespec="seconds"), interrupted=interrupted)

    def _keep_refused(self, done: ShardDone) -> None:
        """Keep the smallest graph that a release refused for each reason, to be looked at."""
        if done.refusals and done.subject in self.totals.of:
            for each in self.totals.of[done.subject].drawn.refusals:
                self._folder.refused(done.subject, each.why, bytes(each.graph))

    def _found(self, finding: Finding, script: str) -> None:
        """Write a finding that is new, or another than before."""
        key = key_of(finding)
        before = self.totals.findings.get(key)
        self.totals.found(finding)
        if finding == before:
            return
        self._folder.finding(finding, script)
        if key not in self._told:
            self._told.add(key)
            about = {"id": finding.id, "subject": finding.subject, "cloner": finding.cloner, "title": finding.title}
            self._folder.event("finding", **about)
        if finding.proof is not None and (before is None or before.proof != finding.proof):
            self._folder.event("proof", id=finding.id, subject=finding.subject, reproduced=finding.proof)
        if finding.smallest and (before is None or not before.smallest):
            self._keep(finding)

    def _keep(self, finding: Finding) -> None:
        """Keep a graph for other nights."""
        if self._corpus is not None:
            about = About((finding.id,), finding.title, finding.subject, finding.cloner)
            generation = Subject.parse(finding.subject).generation
            self._corpus.keep(generation, from_json(bytes(finding.graph), "`$.graph`"), about)
