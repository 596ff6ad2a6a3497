"""A campaign from what was asked for to its exit code: the plan, the folder, the cluster, the engine, the reports."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

import msgspec

from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.harness.campaign.events import Event
from clonediff.harness.campaign.recorder import Recorder
from clonediff.harness.campaign.shards import Plan, Setup
from clonediff.harness.campaign.totals import Totals
from clonediff.harness.source.other_layers import absolute, allow, file_of
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.broken import broken, by_worst
from clonediff.reports.known import KnownIssues, load
from clonediff.reports.records import AT_LEAST, Budget
from clonediff.reports.run_folder import RunFolder
from clonediff.reports.verdict import verdict
from clonediff.strategies.graph import to_json

if TYPE_CHECKING:
    from distributed import Client

    from clonediff.harness.campaign.engine import Ending
    from clonediff.reports.reading import RunRead

MINUTES = 2.0
"""The budget where none is given."""


class MistakenError(ValueError):
    """The options name something that does not exist, or do not go together; the message says what."""


@dataclass(frozen=True, slots=True)
class CampaignOptions:
    """What a person asked for, by the names of the options."""

    subjects: tuple[str, ...]
    cloners: tuple[str, ...]
    minutes: float | None
    trials: int | None
    seed_: int
    out: Path | None
    known_issues: Path
    corpus: Path | None
    layers: tuple[str, ...] = ()
    at_least: str = "name"


@dataclass(frozen=True, slots=True)
class WorkersWanted:
    """Where it runs: `jobs` at once on this machine (None: as many as it has room for), or on a cluster."""

    jobs: int | None = None
    scheduler: str | None = None


@dataclass(slots=True)
class CampaignBegun:
    """A campaign that is ready to run."""

    plan: Plan
    folder: RunFolder
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CampaignResult:
    """What it came to. `folder` is the run's, as it was named; `summary` is for a script."""

    folder: str
    totals: Totals
    read: RunRead
    ending: Ending
    summary: dict[str, Any]

    @property
    def exit_code(self) -> int:
        """What the shell is told."""
        if self.ending.interrupted:
            return 130
        if self.totals.lost or self.ending.failures:
            return 2
        return 1 if self.totals.new() or verdict(self.read).mend else 0


class Watcher(Protocol):
    """Who shows a campaign to a person while it runs."""

    def __call__(self, event: Event) -> None:
        """Something happened."""

    def warn(self, problem: str) -> None:
        """Something that the user should know of."""

    def clear(self) -> None:
        """The campaign is over: nothing is shown any more but the result."""


def begin(asked: CampaignOptions, where: WorkersWanted) -> CampaignBegun:
    """A new run, in a new folder."""
    chosen = [Subject.parse(name) for name in dict.fromkeys(asked.subjects)]
    known = load(asked.known_issues)
    budget = Budget(asked.minutes, asked.trials)
    if asked.minutes is None and asked.trials is None:
        budget = Budget(MINUTES)
    folder = RunFolder(asked.out)
    place = (asked.corpus or folder.path.parent / "corpus").absolute()
    corpus = NightlyCorpus(place)
    first = {
        str(subject): tuple(msgspec.Raw(to_json(each)) for each in corpus.graphs(subject.generation))
        for subject in chosen
    }
    setup = Setup(
        campaign=uuid4().hex[:12],
        cloners=tuple(dict.fromkeys(asked.cloners)),
        known=known.issues,
        layers=_layers(asked.layers),
        at_least=AT_LEAST[asked.at_least],
    )
    allow(setup.layers)
    plan = Plan(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        subjects=tuple(map(str, chosen)),
        setup=setup,
        seed=asked.seed_,
        budget=budget,
        first=first,
        corpus=str(place),
        clonediff=version("clonediff"),
    )
    return CampaignBegun(plan, folder, corpus.problems)


def _layers(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of layers, with the whole paths of their files."""
    found = tuple(dict.fromkeys(map(absolute, names)))
    for name in found:
        path = file_of(f"{name}:" if name.endswith(".py") else name)
        if path and not Path(path).is_file():
            raise MistakenError(f"--layers {name}: there is no such file")
    return found


def run(began: CampaignBegun, where: WorkersWanted, watched_by: Callable[[Plan, Totals], Watcher]) -> CampaignResult:
    """Run a campaign. However it ends, what was found is in the folder."""
    from clonediff.reports.reading import read_run
    from clonediff.reports.writing import write_reports

    plan, folder = began.plan, began.folder
    started = time.monotonic()
    totals = Totals(KnownIssues(plan.setup.known))
    watcher = watched_by(plan, totals)
    corpus = NightlyCorpus(Path(plan.corpus))
    for problem in began.problems:
        watcher.warn(problem)
    try:
        with _cluster(where, plan.setup) as client:
            from clonediff.harness.campaign.cluster import threads
            from clonediff.harness.campaign.engine import Engine

            recorder = Recorder(folder, plan, totals, corpus, threads(client))
            engine = Engine(plan, client, [recorder, watcher])
            ending = engine.run()
            recorder.finish(engine.queues.values(), interrupted=ending.interrupted)
            for problem in corpus.problems:
                watcher.warn(problem)
    finally:
        watcher.clear()
        folder.close()
    read = read_run(folder.path)
    write_reports(read)
    summary = _summary(folder, totals, read, ending, time.monotonic() - started)
    return CampaignResult(str(folder.path), totals, read, ending, summary)


def _cluster(where: WorkersWanted, setup: Setup) -> AbstractContextManager[Client]:
    from clonediff.harness.campaign import cluster

    if where.scheduler is not None:
        return cluster.remote(where.scheduler, setup)
    return cluster.local(where.jobs or cluster.jobs_here(), setup)


def _summary(folder: RunFolder, totals: Totals, read: RunRead, ending: Ending, seconds: float) -> dict[str, Any]:
    said, run = verdict(read), read.run
    return {
        "headline": said.headline,
        "holds": list(said.holds),
        "worst": by_worst(run),
        "at_least": run.at_least.name.lower(),
        "broken": [
            {
                "id": each.issue.id,
                "title": each.issue.title,
                "severity": each.severity.name.lower() if each.severity is not None else None,
                "graphs": each.graphs,
            }
            for each in broken(read)
        ],
        "folder": str(folder.path),
        "report": str(folder.path / "report.html"),
        "interrupted": ending.interrupted,
        "seconds": round(seconds, 3),
        **{name: getattr(run, name) for name in ("trials", "drawn", "drawing")},
        "reducing": run.reducing,
        "not_accepted": {name: each.not_accepted for name, each in run.draws.items() if each.not_accepted},
        "subjects": run.subjects,
        "draws": msgspec.to_builtins(run.draws),
        "to_mend": list(said.mend),
        "lost": totals.lost,
        "failures": ending.failures,
        "verdicts": run.verdicts,
        "known": totals.drawn.known,
        "unsteady": totals.unsteady,
        "findings": [
            {
                "id": finding.id,
                "title": finding.title,
                "subject": finding.subject,
                "cloner": finding.cloner,
                "count": finding.count,
                "reproduced": finding.proof,
                "smallest": finding.smallest,
                "script": finding.alone,
                "folder": str(folder.of(finding)),
            }
            for finding in totals.findings.values()
        ],
    }
