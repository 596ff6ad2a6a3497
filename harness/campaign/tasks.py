"""What a worker of a campaign is asked for: to meet a subject, to try a shard, to settle what a shard found.

Each is a plain function of data, so that it gives the same on whichever worker it runs, and as often as it is asked.
Must not import Keras, nor Dask.
"""

from __future__ import annotations

import functools
import itertools
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import ParamSpec, TypeVar

import msgspec
from hypothesis.strategies import SearchStrategy

from harness.answers.replay import still_breaks
from harness.campaign.corpus import NightlyCorpus
from harness.campaign.shards import KnownRetried, RawFinding, Settled, Setup, Shard, ShardDone, SubjectStarted
from harness.campaign.warm_subjects import warm_subjects
from harness.scripts.of_finding import finding_of, script_of
from harness.scripts.run_alone import fails_alone
from harness.search.draw_and_shrink import draw, shrink
from harness.search.reducing import reduce
from harness.subjects import NoDeviceError, SubjectError
from harness.subjects.offers import graphs_on, unable
from harness.subjects.releases import ReleaseError
from harness.trials.across import TrialsAcross
from harness.trials.graph_trials import Hit, Key, news
from reports.coverage import Counting
from reports.store import slug
from strategies.graph import Graph, from_json, to_json

SHRINKS, REDUCTIONS = 60, 300
"""The trials that Hypothesis may spend on making a finding smaller, and then the reducer, which is quicker at it."""

_DEADLY = {"timed-out": 2, "out-of-memory": 6, "process": 6}
"""Where each trial costs a process, or a minute, there are fewer of them."""

_PROVEN = ("upstream", "multi_gpu")
"""The cloners whose scripts are plain Keras."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A subject that came up before does not now: it may with another worker, or in a while."""

    reason: str


@dataclass(frozen=True, slots=True)
class Denied:
    """The worker's machine would not do something, such as write a file on a disk that is full."""

    number: int | None
    reason: str
    file: str | None

    def error(self) -> OSError:
        """What it was."""
        return OSError(self.number, self.reason, self.file) if self.number is not None else OSError(self.reason)


@dataclass(frozen=True, slots=True)
class Broken:
    """A fault of ours, which would come again: this task is given up, and the campaign goes on."""

    reason: str


P = ParamSpec("P")
T = TypeVar("T")


def _answering(task: Callable[P, T]) -> Callable[P, T | Gone | Denied | Broken]:
    """A task that answers with what stopped it: an exception does not always cross the network as what it is."""

    @functools.wraps(task)
    def run(*args: P.args, **kwargs: P.kwargs) -> T | Gone | Denied | Broken:
        try:
            return task(*args, **kwargs)
        except SubjectError as error:
            return Gone(str(error))
        except OSError as error:
            return Denied(error.errno, error.strerror or str(error), error.filename)
        except Exception as error:
            frames = [f"{Path(each.filename).name}:{each.lineno}" for each in traceback.extract_tb(error.__traceback__)]
            return Broken(f"{type(error).__name__}: {error} (at {' > '.join(frames[-4:])})")

    return run


@_answering
def start_subject(campaign: str, name: str) -> SubjectStarted:
    """Start a subject: what it is, or why it cannot be had."""
    own = version("clonediff")
    setup = warm_subjects(campaign).setup
    try:
        process = warm_subjects(campaign).process(name)
        for cloner in setup.cloners:
            reason = unable(cloner, process)
            if reason:
                return SubjectStarted(name, unable=reason, clonediff=own)
        corpus = _corpus(setup)
        first = corpus.drawn(process.subject.generation, graphs_on(process)) if corpus else ()
        return SubjectStarted(
            name,
            process.versions,
            process.place.how,
            process.ready.keras,
            clonediff=own,
            first=tuple(msgspec.Raw(to_json(each)) for each in first),
            problems=corpus.problems if corpus else (),
        )
    except SubjectError as error:
        if not isinstance(error, (ReleaseError, NoDeviceError)) and error.failure is None:
            raise  # it was ended while it started, which may not happen again
        return SubjectStarted(name, lost=str(error), clonediff=own)


@_answering
def retry_known(campaign: str, name: str) -> KnownRetried:
    """Whether the known issues of a subject still break."""
    trials = warm_subjects(campaign).trials(name)
    return KnownRetried(
        name,
        {
            issue.id: still_breaks(issue, trials)
            for cloner in trials.cloners
            for issue in trials.known(cloner).issues
            if issue.example is not None
        },
    )


@_answering
def try_shard(campaign: str, shard: Shard) -> ShardDone:
    """Try each graph of a shard."""
    trials = warm_subjects(campaign).trials(shard.subject)
    process = trials.process
    before = process.restarts, process.recycled
    began = time.perf_counter()
    counting = Counting()
    raw_findings: dict[Key, RawFinding] = {}
    met: Counter[Key] = Counter()

    def look(graph: Graph) -> None:
        counting.add(graph)
        for each in news(trials.try_graph(graph)):
            met[each.key] += 1
            if each.key not in raw_findings:
                raw_findings[each.key] = RawFinding(each.key, finding_of(each, process.subject, process.versions))

    if shard.graphs:
        for each in shard.graphs:
            look(from_json(bytes(each), "a graph of the corpus"))
    else:
        _draw(shard, graphs_on(process), look)
    tally = trials.tally
    return ShardDone(
        subject=shard.subject,
        turn=shard.turn,
        trials=tally.trials,
        costly=tally.costly,
        refused=tally.refused,
        seconds=time.perf_counter() - began,
        verdicts={f"{cloner}: {verdict}": count for (cloner, verdict), count in tally.verdicts.items()},
        known=dict(tally.known),
        raw_findings=tuple(raw_findings.values()),
        met=tuple(met.items()),
        coverage=counting.coverage(),
        compared={name: each.graphs for name, each in trials.compared.items()},
        not_compared={name: dict(each.not_compared) for name, each in trials.compared.items()},
        restarts=process.restarts - before[0],
        recycled=process.recycled - before[1],
    )


@_answering
def settle(campaign: str, shard: Shard, raw_finding: RawFinding, seconds: float | None) -> Settled:
    """Make what a shard found as small as it gets, and run its script alone.

    `seconds` is how long that may take, but for the script; None for as long as it takes.
    """
    setup = warm_subjects(campaign).setup
    trials = warm_subjects(campaign).trials(shard.subject)
    process, key = trials.process, raw_finding.key
    until = None if seconds is None else time.monotonic() + seconds
    graph = from_json(bytes(raw_finding.finding.graph), "a raw finding")
    found = _shrunk(trials, shard, graph, key, setup, until)
    if found is None:
        return Settled(shard.subject, key, shard.turn, trials=trials.tally.trials)
    reduced = _reduced(trials, found, trials.sampled(graph), until)
    candidates = [found] if reduced is None else [reduced, found]
    finished = until is None or time.monotonic() < until
    proof: bool | None = None
    text = ""
    for found in candidates:
        script = script_of(found, process.subject.dialect, process.versions)
        text = script.text
        if found.cloner in _PROVEN or found.across:
            proof = fails_alone(script, process.subject, process.place)
        if proof is not False:
            break
    finding = msgspec.structs.replace(finding_of(found, process.subject, process.versions), proof=proof)
    return Settled(shard.subject, key, shard.turn, finding, text, trials.tally.trials, finished)


def _shrunk(
    trials: TrialsAcross, shard: Shard, graph: Graph, key: Key, setup: Setup, until: float | None
) -> Hit | None:
    """What shows the same, as small as Hypothesis makes it; a graph that was not drawn stays as it is."""
    if shard.graphs:
        return _shown(trials, graph, key, trials.sampled(graph))
    corpus = _corpus(setup)
    return shrink(
        trials,
        graphs_on(trials.process),
        graph,
        key,
        examples=_examples(shard),
        seed_=shard.seed,
        most=_most(key, SHRINKS),
        until=until,
        database=corpus.database(trials.generation) if corpus else None,
    )


def _reduced(trials: TrialsAcross, found: Hit, costly: bool, until: float | None) -> Hit | None:
    """What shows the same with a smaller graph; None where there is none."""
    shown: dict[Graph, Hit] = {}

    def still(graph: Graph) -> bool:
        if until is not None and time.monotonic() > until:
            return False
        same = _shown(trials, graph, found.key, costly)
        if same is not None:
            shown[graph] = same
        return same is not None

    graph = reduce(found.graph, still, most=_most(found.key, REDUCTIONS)).graph
    return shown.get(graph)


def _shown(trials: TrialsAcross, graph: Graph, key: Key, costly: bool) -> Hit | None:
    return next((each for each in news(trials.try_graph(graph, costly=costly)) if each.key == key), None)


def _most(key: Key, usual: int) -> int:
    words = slug(*key[1:])
    return next((most for word, most in _DEADLY.items() if word in words), usual)


def _corpus(setup: Setup) -> NightlyCorpus | None:
    return NightlyCorpus(Path(setup.corpus), setup.database) if setup.corpus else None


def _examples(shard: Shard) -> int:
    return shard.count + (not shard.opens)


def _draw(shard: Shard, graphs: SearchStrategy[Graph], look: Callable[[Graph], None]) -> None:
    numbers = itertools.count()

    def each(graph: Graph) -> None:
        # The first that Hypothesis draws is the simplest of all, which one shard is enough to try.
        if next(numbers) > 0 or shard.opens:
            look(graph)

    draw(graphs, _examples(shard), shard.seed, each)
