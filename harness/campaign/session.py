"""A campaign from what was asked for to its exit code: the plan, the folder, the cluster, the engine, the reports."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

import msgspec

from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.harness.campaign.done_log import DoneLog
from clonediff.harness.campaign.events import Event
from clonediff.harness.campaign.recorder import Recorder
from clonediff.harness.campaign.shards import Done, Plan, Setup
from clonediff.harness.campaign.totals import Totals
from clonediff.harness.inside.cloners.users import users_cloner
from clonediff.harness.search.graph_database import DatabaseError, rooted
from clonediff.harness.source.other_layers import absolute, file_of, is_allowed
from clonediff.harness.subjects.journal import read_journal
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.trusted_layers import allow_remembered, trust
from clonediff.harness.trials.users_cloners import PromisesError, held_to
from clonediff.reports.broken import broken, by_worst
from clonediff.reports.known import KnownIssues, load
from clonediff.reports.mended import mended
from clonediff.reports.records import AT_LEAST, Budget, RecordError
from clonediff.reports.run_folder import RunFolder
from clonediff.reports.verdict import verdict
from clonediff.strategies.graph import to_json
from clonediff.strategies.preparations import RATE

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
    rate: int
    preparation_rate: int | None
    out: Path | None
    known_issues: Path
    corpus: Path | None
    database: str | None
    reach: bool = False
    layers: tuple[str, ...] = ()
    at_least: str = "name"
    private: bool = False
    promises: str = ""


@dataclass(frozen=True, slots=True)
class WorkersWanted:
    """Where it runs: `jobs` at once on this machine (None: as many as it has room for), or on a cluster."""

    jobs: int | None = None
    scheduler: str | None = None
    ca: str | None = None
    cert: str | None = None
    key: str | None = None


@dataclass(slots=True)
class CampaignBegun:
    """A campaign that is ready to run, with what of it is done already."""

    plan: Plan
    folder: RunFolder
    done_log: DoneLog
    done: list[Done]
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
    try:
        cloners = held_to(asked.cloners, asked.promises)
    except PromisesError as error:
        raise MistakenError(f"--promises: {error}") from None
    known = load(asked.known_issues)
    budget = Budget(asked.minutes, asked.trials)
    if asked.minutes is None and asked.trials is None:
        budget = Budget(MINUTES)
    try:
        # A bad option is told before there is a folder for the run.
        NightlyCorpus(Path(), asked.database)
    except DatabaseError as error:
        raise MistakenError(f"--database {error}") from None
    database = rooted(asked.database)
    folder = RunFolder(asked.out)
    place = (asked.corpus or folder.path.parent / "corpus").absolute()
    corpus = NightlyCorpus(place, database)
    first = {
        str(subject): tuple(msgspec.Raw(to_json(each)) for each in corpus.graphs(subject.generation))
        for subject in chosen
    }
    setup = Setup(
        campaign=uuid4().hex[:12],
        cloners=cloners,
        rate=asked.rate,
        preparation_rate=RATE if asked.preparation_rate is None else asked.preparation_rate,
        known=known.issues,
        read_in=known.read_in,
        journals="" if where.scheduler else str((folder.path / "journal").absolute()),
        reach=asked.reach,
        layers=_layers(asked.layers),
        at_least=AT_LEAST[asked.at_least],
        private=asked.private,
    )
    trust(setup.layers)
    plan = Plan(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        subjects=tuple(map(str, chosen)),
        setup=setup,
        seed=asked.seed_,
        budget=budget,
        first=first,
        corpus=str(place),
        database=database,
        clonediff=version("clonediff"),
    )
    done_log = DoneLog(folder.path)
    done_log.begin(plan)
    return CampaignBegun(plan, folder, done_log, [], corpus.problems)


def _layers(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of layers, with the whole paths of their files."""
    found = tuple(dict.fromkeys(map(absolute, names)))
    for name in found:
        path = file_of(f"{name}:" if name.endswith(".py") else name)
        if path and not Path(path).is_file():
            raise MistakenError(f"--layers {name}: there is no such file")
    return found


def go_on(path: Path, cloners: tuple[str, ...] = (), layers: tuple[str, ...] = ()) -> CampaignBegun:
    """A run that was stopped, with what was done by then.

    Its plan may be from elsewhere: the code of others that it names runs only if the user has named that here, before
    or as one of these `cloners` and `layers`, which the run has to have.
    """
    if not path.is_dir():
        raise RecordError(f"{path}: expected the folder of a run, and there is no such folder")
    done_log = DoneLog(path)
    plan = done_log.plan()
    try:
        NightlyCorpus(Path(), plan.database)
    except DatabaseError as error:
        raise RecordError(f"{path / 'plan.json'}: database: {error}") from None
    if plan.clonediff != version("clonediff"):
        raise RecordError(
            f"{path}: was begun by clonediff {plan.clonediff}, and this is {version('clonediff')}, "
            "which may draw other graphs: begin a new run"
        )
    _say_again(plan.setup, cloners, layers)
    for option, name in _untrusted(plan.setup):
        raise RecordError(
            f"{path / 'plan.json'}: {name} is code of somebody's own: say that you trust it with "
            f"--resume {shlex.quote(str(path))} {option} {shlex.quote(name)}"
        )
    folder = RunFolder(path, resume=True)
    done = done_log.read()
    journals = plan.setup.journals and str((folder.path / "journal").absolute())
    setup = msgspec.structs.replace(plan.setup, campaign=uuid4().hex[:12], journals=journals)
    folder.event("resumed")
    problems = (*done_log.problems, *_left_under_way(folder))
    return CampaignBegun(msgspec.structs.replace(plan, setup=setup), folder, done_log, done, problems)


def _say_again(setup: Setup, cloners: tuple[str, ...], layers: tuple[str, ...]) -> None:
    """Trust what is named again with --resume: it is to be in the run, of which nothing can be changed any more."""
    codes = set(_codes(setup.cloners))
    for option, name, there in (
        *(("--cloner", name, name in setup.cloners or not codes.isdisjoint(_codes([name]))) for name in cloners),
        *(("--layers", name, absolute(name) in setup.layers) for name in layers),
    ):
        if not there:
            raise MistakenError(
                f"{option} {name} is not in the run, and was said when that began: leave it out with --resume"
            )
    trust([*_codes(cloners), *map(absolute, layers)])


def _untrusted(setup: Setup) -> Iterator[tuple[str, str]]:
    """The code of others that the user has not named, with the option that does so."""
    allow_remembered()
    named = [*(("--cloner", code) for code in _codes(setup.cloners)), *(("--layers", name) for name in setup.layers)]
    return ((option, name) for option, name in named if not is_allowed(name))


def _codes(cloners: Iterable[str]) -> list[str]:
    """What is called of the user's own among the cloners."""
    return [its.code for its in map(users_cloner, cloners) if its is not None]


def _left_under_way(folder: RunFolder) -> Iterator[str]:
    """Write down the trials that were under way when the run was ended: one of them may be what ended it."""
    for path in sorted((folder.path / "journal").glob("*.json")):
        try:
            left = read_journal(path)
        except RecordError as error:
            yield str(error)
        else:
            source = left.request.get("source", "")
            folder.event("under way", subject=left.subject, worker=left.worker, since=left.written, source=source)
            yield f"a trial on {left.subject} was under way when the run was ended; its source is in events.ndjson"
            path.unlink()


def run(began: CampaignBegun, where: WorkersWanted, watched_by: Callable[[Plan, Totals], Watcher]) -> CampaignResult:
    """Run a campaign. However it ends, what was found is in the folder."""
    from clonediff.reports.reading import read_run
    from clonediff.reports.writing import write_reports

    plan, folder = began.plan, began.folder
    started = time.monotonic()
    totals = Totals(KnownIssues(plan.setup.known, plan.setup.read_in))
    watcher = watched_by(plan, totals)
    corpus = NightlyCorpus(Path(plan.corpus), plan.database)
    for problem in began.problems:
        watcher.warn(problem)
    try:
        with _cluster(where, plan.setup) as client:
            from clonediff.harness.campaign.cluster import threads
            from clonediff.harness.campaign.engine import Engine

            recorder = Recorder(folder, plan, totals, corpus, threads(client))
            engine = Engine(plan, client, began.done_log, [recorder, watcher])
            engine.resume(began.done)
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
        return cluster.remote(where.scheduler, setup, ca=where.ca, cert=where.cert, key=where.key)
    return cluster.local(where.jobs or cluster.jobs_here(), setup)


def _summary(folder: RunFolder, totals: Totals, read: RunRead, ending: Ending, seconds: float) -> dict[str, Any]:
    said, run = verdict(read), read.run
    return {
        "headline": said.headline,
        "mended": [
            {"id": each.id, "title": each.title, "subject": each.subject, "after": each.mended_after}
            for its in mended(run).values()
            for each in its
        ],
        "holds": list(said.holds),
        "worst": by_worst(run),
        "at_least": run.at_least.name.lower(),
        "private": run.private,
        "broken": [
            {
                "id": each.issue.id,
                "title": each.issue.title,
                "cost": each.severity.name.lower() if each.severity is not None else None,
                "graphs": each.graphs,
                "folder": str(folder.path / "known" / each.shown.name) if each.shown is not None else None,
            }
            for each in broken(read)
        ],
        "folder": str(folder.path),
        "report": str(folder.path / "report.html"),
        "interrupted": ending.interrupted,
        "seconds": round(seconds, 3),
        **{name: getattr(run, name) for name in ("trials", "drawn", "drawing")},
        "shrinking": run.reducing,
        "states": run.prepared,
        "stating": run.preparing,
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
