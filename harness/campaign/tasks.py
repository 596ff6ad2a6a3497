"""The tasks of a worker: try a shard, and make a finding smaller.

Both are functions of plain data, so the result is the same on any worker. A worker keeps a warm process of each
subject from one task to the next.
"""

from __future__ import annotations

import functools
import itertools
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import ParamSpec, TypeVar

import msgspec
from msgspec.structs import replace

from clonediff.harness.campaign.shards import (
    FindingWithScript,
    Reduction,
    RefusedGraphs,
    Setup,
    Shard,
    ShardResult,
    TaskFailed,
    count_refused,
)
from clonediff.harness.drawing.drawable_kinds import bring, graphs_on
from clonediff.harness.drawing.remembered_answers import asked
from clonediff.harness.scripts.alone import ScriptRunner, is_proven
from clonediff.harness.scripts.of_finding import finding_of, script_of
from clonediff.harness.search.draw_and_reduce import make_smaller
from clonediff.harness.search.reducing import MOST
from clonediff.harness.search.sampling import sample_graphs
from clonediff.harness.source.other_layers import is_allowed, other_kinds
from clonediff.harness.subjects import NoDeviceError, SubjectError
from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.cloners import allow_cloners, unsupported_cloner
from clonediff.harness.trials.graph_trials import GraphTrials, new_hits
from clonediff.harness.trials.trial import Hit, Key
from clonediff.reports.draws import reason
from clonediff.reports.known import KnownIssues
from clonediff.strategies.graph import Graph, from_json, to_json

WARM = 4
"""The subjects that a worker keeps warm: a process takes more than half a gigabyte."""

COSTLY = {"timed-out": 2, "out-of-memory": 6, "process": 6}
"""The most trials for a finding whose trials each cost a process or a minute."""


class WarmSubject:
    """A subject's process, and what runs scripts on its release."""

    def __init__(self, name: str, setup: Setup) -> None:
        subject = Subject.parse(name)
        self.process = SubjectProcess(subject, place=place_of(subject))
        self.scripts = ScriptRunner(subject, self.process.place)
        self._known = KnownIssues(setup.known)
        self._setup = setup
        self.process.start()
        allow_cloners(setup.cloners)
        self.process.others = setup.layers
        bring(asked(self.process), setup.layers)
        for cloner in setup.cloners:
            if problem := unsupported_cloner(cloner, self.process):
                self.close()
                raise ReleaseError(problem)

    def trials(self) -> GraphTrials:
        """Trials with nothing counted yet."""
        setup = self._setup
        return GraphTrials(self.process, self._known, cloners=setup.cloners, at_least=setup.at_least)

    def with_script(self, hit: Hit) -> FindingWithScript:
        """A hit as it is written."""
        subject, versions = self.process.subject, self.process.versions
        return FindingWithScript(finding_of(hit, subject, versions), script_of(hit, subject.generation, versions).text)

    def proven(self, hit: Hit) -> FindingWithScript:
        """A hit as it is written, after its script was run alone, if it is plain Keras."""
        result = self.with_script(hit)
        if not is_proven(hit.cloner):
            return result
        process = self.process
        proof, why_not = self.scripts.proof(script_of(hit, process.subject.generation, process.versions))
        return replace(result, finding=replace(result.finding, proof=proof, unproven=why_not))

    def close(self) -> None:
        """End the processes."""
        self.process.close()
        self.scripts.close()


_WARM: dict[tuple[int, str], dict[str, WarmSubject]] = {}
"""The warm subjects of each thread of this worker, for a campaign."""
_CLOSED: set[str] = set()


def close(campaign: str) -> None:
    """End the processes of a campaign on this worker. A task of it that still runs ends before its next graph."""
    _CLOSED.add(campaign)
    for key in [key for key in _WARM if key[1] == campaign]:
        for subject in _WARM.pop(key).values():
            subject.close()


def _warm(name: str, setup: Setup) -> WarmSubject:
    thread = threading.get_ident()
    for other in [key for key in _WARM if key[0] == thread and key[1] != setup.campaign]:
        for subject in _WARM.pop(other).values():
            subject.close()
    subjects = _WARM.setdefault((thread, setup.campaign), {})
    warm = subjects.pop(name, None) or WarmSubject(name, setup)
    subjects[name] = warm  # the last that was used is the last in line
    while len(subjects) > WARM:
        subjects.pop(next(iter(subjects))).close()
    return warm


P = ParamSpec("P")
T = TypeVar("T")


def _task(function: Callable[P, T]) -> Callable[P, T | TaskFailed]:
    """A task that returns its failure: not every exception can be sent to the driver."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T | TaskFailed:
        try:
            return function(*args, **kwargs)
        except SubjectError as error:
            final = isinstance(error, (ReleaseError, NoDeviceError)) or error.failure is not None
            return TaskFailed(str(error), final)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)[-4:]
            where = " > ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
            return TaskFailed(f"{type(error).__name__}: {error} (at {where})")

    return run


@_task
def try_shard(setup: Setup, shard: Shard) -> ShardResult:
    """Try each graph of a shard."""
    if (installed := version("clonediff")) != setup.clonediff:
        raise ReleaseError(
            f"the worker has clonediff {installed}, the campaign is of {setup.clonediff}: install the same on both"
        )
    warm = _warm(shard.subject, setup)
    trials, process = warm.trials(), warm.process
    losses = process.losses.copy()
    began = time.perf_counter()
    findings: dict[Key, FindingWithScript] = {}
    refusals: dict[str, RefusedGraphs] = {}
    met: Counter[Key] = Counter()
    with trials.asking():
        for graph in _graphs(shard, trials):
            if setup.campaign in _CLOSED:
                raise SubjectError("the campaign is over")
            trial = trials.try_graph(graph)
            # A release of another day may lack what the corpus has of this one.
            refused = None if shard.graphs and process.subject.version is not None else trial.refused
            if refused is not None:
                why = reason(refused.type, refused.message)
                count_refused(refusals, RefusedGraphs(why, msgspec.Raw(to_json(graph))))
            for hit in new_hits(trial.hits):
                met[hit.key] += 1
                if hit.key not in findings:
                    findings[hit.key] = warm.with_script(hit)
    asked(process).keep()
    tally = trials.tally
    accepted, not_accepted = asked(process).since()
    return ShardResult(
        subject=shard.subject,
        turn=shard.turn,
        versions=process.versions,
        trials=tally.trials,
        seconds=time.perf_counter() - began,
        verdicts={f"{cloner}: {verdict}": count for (cloner, verdict), count in tally.verdicts.items()},
        worst={f"{cloner}: {severity.name.lower()}": count for (cloner, severity), count in tally.worst.items()},
        known=dict(tally.known),
        severities=dict(tally.severities),
        findings=tuple(findings.values()),
        refusals=tuple(refusals.values()),
        met=tuple(met.items()),
        losses=dict(process.losses - losses),
        accepted=accepted,
        not_accepted=not_accepted,
    )


def _graphs(shard: Shard, trials: GraphTrials) -> itertools.chain[Graph]:
    """The graphs of a shard. The first that is drawn is the simplest of all, which one shard is enough to try."""
    graphs = (from_json(bytes(graph), "a graph of the corpus") for graph in shard.graphs)
    # A graph of the corpus may have layers that were named in another campaign.
    stored = (graph for graph in graphs if all(map(is_allowed, other_kinds(graph))))
    if not shard.count:
        return itertools.chain(stored)
    strategy = graphs_on(trials.process, cloners=trials.cloners)
    skipped = 0 if shard.opens else 1
    return itertools.chain(itertools.islice(sample_graphs(strategy, shard.count + skipped, shard.seed), skipped, None))


@_task
def reduce_finding(setup: Setup, drawn: FindingWithScript, seconds: float | None) -> Reduction:
    """Cut the graph of a finding for `seconds` (None: as long as it takes), then run its script alone.

    If the script of the smallest graph does not fail alone, the graph as it was drawn may have one that does.
    """
    began = time.perf_counter()
    until = None if seconds is None else time.monotonic() + seconds
    finding = drawn.finding
    warm = _warm(finding.subject, setup)
    trials = warm.trials()
    most = next((trials for word, trials in COSTLY.items() if word in finding.id), MOST)
    graph = from_json(bytes(finding.graph), "a finding")
    smaller = make_smaller(trials, graph, drawn.key, finding.root, until=until, most=most)
    result: FindingWithScript | None = None
    for hit in filter(None, (smaller.hit, smaller.drawn)):
        proven = warm.proven(hit)
        result = result or proven
        if proven.finding.proof is not False:
            result = proven
            break
    if result is not None:
        changed = replace(result.finding, first_seen=finding.first_seen, smallest=smaller.finished)
        result = replace(result, finding=changed)
    return Reduction(result, trials.tally.trials, time.perf_counter() - began)
