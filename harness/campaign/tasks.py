"""The tasks of a worker: try a shard, and make a finding smaller.

Both are functions of plain data, so the result is the same on any worker. A worker keeps a warm process of each
subject from one task to the next.
"""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from graphlib import TopologicalSorter
from typing import Any

from msgspec import Raw, json
from msgspec.structs import replace

from clonediff.harness.campaign.shards import Result, Setup, Shard
from clonediff.harness.observation import Shape
from clonediff.harness.scripts.reproducer import script_of
from clonediff.harness.scripts.runner import ReplayAnswer, ScriptRunner
from clonediff.harness.search.hunt import draws, make_smaller
from clonediff.harness.search.reduce import MOST
from clonediff.harness.subjects.environment import Place
from clonediff.harness.subjects.outcomes import ReleaseError, RequestError, SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.checks.alignment import Pair
from clonediff.harness.trials.checks.paths import full_name
from clonediff.harness.trials.checks.skeletons import TensorName, tensors
from clonediff.harness.trials.cloners import allow_cloners, unsupported_cloner
from clonediff.harness.trials.graph_trials import Costly, GraphTrials, new_hits
from clonediff.harness.trials.trial import Hit, Key, Trial
from clonediff.reports.known import KnownIssues
from clonediff.reports.markup import reason
from clonediff.reports.records import Box, Counts, Finding, Severity
from clonediff.strategies.program import Graph, from_json, to_json

COSTLY = {"timed-out": 2, "out-of-memory": 6, "process": 6}
"""The most trials for a finding whose trials each cost a process or a minute."""


class CampaignProcess(SubjectProcess):
    """A subject's process. A fault of clonediff is counted, by its reason, and what was asked then is kept."""

    def __init__(self, subject: Subject, place: Place) -> None:
        super().__init__(subject, place=place)
        self.faults: Counter[str] = Counter()
        self.faulty: dict[str, bytes] = {}

    def draw(self, request: dict[str, Any], timeout: float = 30.0) -> Graph | None:
        """Draw a graph; None also where that fails."""
        with self.counted(json.encode(request)):
            return super().draw(request, timeout)
        return None

    @contextlib.contextmanager
    def counted(self, asked: bytes) -> Iterator[None]:
        """A scope in which a fault of clonediff ends nothing else."""
        try:
            yield
        except Exception as error:
            if isinstance(error, SubjectError) and not isinstance(error, RequestError):
                raise
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = "" if isinstance(error, SubjectError) else f" (at {frame.filename}:{frame.lineno})"
            why = f"{reason(type(error).__name__, str(error))}{where}"
            self.faults[why] += 1
            self.faulty.setdefault(why, asked)


class Trials(GraphTrials):
    """Trials of which none ends a campaign."""

    process: CampaignProcess

    def __init__(self, process: CampaignProcess, setup: Setup) -> None:
        super().__init__(process, KnownIssues(setup.known), cloners=setup.cloners, at_least=setup.at_least)
        process.faults.clear()
        process.faulty.clear()

    def try_graph(self, graph: Graph, *, costly: Costly = None) -> Trial:
        with self.process.counted(to_json(graph)):
            return super().try_graph(graph, costly=costly)
        return Trial(not_tried="a fault of clonediff")


class WarmSubject:
    """A subject's process, and what runs scripts on its release."""

    def __init__(self, name: str, setup: Setup) -> None:
        subject = Subject.parse(name)
        self.setup = setup
        self.process = CampaignProcess(subject, place_of(subject))
        self.process.layers = setup.layers
        self._scripts = ScriptRunner(subject, self.process.place)
        allow_cloners(setup.cloners)

    def start(self) -> None:
        """Start the process; raise where it cannot be used for the campaign."""
        self.process.start()
        problems = (unsupported_cloner(cloner, self.process) for cloner in self.setup.cloners)
        if problem := next(filter(None, problems), ""):
            raise ReleaseError(problem)

    def finding(self, hit: Hit, *, run: bool = False) -> Finding:
        """A hit as it is kept, with a picture of both models; with `run`, its script is run alone."""
        assert hit.graph is not None
        process, cause = self.process, hit.cause
        script = script_of(hit, process.subject.generation, process.versions)
        finding = Finding(
            id=hit.id,
            title=hit.title,
            generation=process.subject.generation,
            cloner=hit.cloner,
            graph=Raw(to_json(hit.graph)),
            differences=cause.differences if cause else (),
            source=script.text,
            versions=dict(process.versions),
            known=hit.known.id if hit.known else None,
            subject=str(process.subject),
            first_seen=datetime.now(UTC).isoformat(timespec="seconds"),
            blame=hit.blame.value if hit.blame else "",
            detail=hit.detail,
            smallest=False,
            pictures=_pictures(hit.pair) if hit.pair else (),
        )
        if not run:
            return finding
        answer, why = self._scripts.answer(script)
        proof = {ReplayAnswer.BREAKS: True, ReplayAnswer.UNKNOWN: None}.get(answer, False)
        return replace(finding, proof=proof, unproven=why if proof is None else "")

    def end(self) -> None:
        """End the processes for good, from any thread."""
        self.process.end()
        self._scripts.close()


def _pictures(pair: Pair) -> tuple[tuple[Box, ...], ...]:
    """The calls of the original, and of the clone where one was made."""
    original = tuple(_boxes(pair.original.shape, pair.tensor))
    return (original, tuple(_boxes(pair.observed.shape, pair.counterpart))) if pair.clone.observation else (original,)


def _boxes(shape: Shape, name: TensorName) -> Iterator[Box]:
    """The calls of a model, each after those that give what it takes."""
    calls = {(number, use): call for number, layer in enumerate(shape.layers) for use, call in enumerate(layer.calls)}
    taken = {place: list(tensors([call.args, call.kwargs])) for place, call in calls.items()}
    givers = {place: [tensor[:2] for tensor in taken[place] if tensor[:2] in calls] for place in calls}
    for number, use in TopologicalSorter(givers).static_order():
        layer = shape.layers[number]
        inside = full_name(shape, layer.inside) if layer.inside >= 0 else ""
        call = name((number, use, 0)).rpartition(".")[0]
        yield Box(call, layer.name, layer.kind, tuple(map(name, taken[number, use])), inside)


_warm: dict[tuple[int, str, str], WarmSubject] = {}
"""The warm subjects of this worker, by thread, campaign and name."""
_over: set[str] = set()


def close(campaign: str) -> None:
    """End the processes of a campaign on this worker, and the tasks that wait for them."""
    _over.add(campaign)
    for key in [key for key in list(_warm) if key[1] == campaign]:
        _warm.pop(key).end()


def _started(name: str, setup: Setup) -> WarmSubject:
    key = threading.get_ident(), setup.campaign, name
    warm = _warm[key] = _warm.get(key) or WarmSubject(name, setup)
    if setup.campaign in _over:  # perhaps since a moment ago
        close(setup.campaign)
        raise SubjectError("the campaign is over")
    warm.start()
    return warm


def try_shard(setup: Setup, shard: Shard) -> Result:
    """Try each graph of a shard."""
    warm = _started(shard.subject, setup)
    trials, process = Trials(warm.process, setup), warm.process
    losses, began = process.losses.copy(), time.perf_counter()
    findings: dict[Key, Finding] = {}
    met: Counter[Key] = Counter()
    reasons: Counter[str] = Counter()
    refused: dict[str, bytes] = {}
    for graph in _graphs(shard, trials):
        trial = trials.try_graph(graph)
        # What the corpus has another release may lack, and layers of the user's own may be gone.
        if trial.refused is not None and not shard.graphs:
            why = reason(trial.refused.type, trial.refused.message)
            reasons[why] += 1
            refused.setdefault(why, to_json(graph))
        for hit in new_hits(trial.hits):
            met[hit.key] += 1
            if hit.key not in findings and hit.key not in shard.seen:
                with process.counted(to_json(graph)):
                    findings[hit.key] = warm.finding(hit)
    counts = Counts(
        graphs=trials.tally.trials,
        seconds=time.perf_counter() - began,
        verdicts=_rows(trials.tally.verdicts),
        worst=_rows(trials.tally.worst),
        known=_rows(trials.tally.known),
        refused=dict(reasons),
        faults=dict(process.faults),
        unrun=trials.tally.unrun,
        losses=dict(process.losses - losses),
    )
    return Result(process.versions, counts, tuple(findings.values()), dict(met), refused, dict(process.faulty))


def _graphs(shard: Shard, trials: Trials) -> Iterator[Graph]:
    yield from (from_json(stored, "a graph of the corpus") for stored in shard.graphs)
    for seed, size in shard.blocks:
        yield from draws(trials.process, seed, size, cloners=trials.cloners)


def _rows(counts: Mapping[tuple[str, Any], int]) -> dict[str, dict[str, int]]:
    """Counts of pairs, a row for each first of a pair."""
    rows: dict[str, dict[str, int]] = {}
    for (name, word), count in counts.items():
        rows.setdefault(name, {})[word.word if isinstance(word, Severity) else word] = count
    return rows


def reduce_finding(setup: Setup, drawn: Finding, seconds: float) -> Result:
    """Cut the graph of a finding for so long, then run its script alone.

    If the script of the smallest graph does not fail alone, the graph as it was drawn may have one that does.
    """
    began = time.perf_counter()
    warm = _started(drawn.subject, setup)
    trials = Trials(warm.process, setup)
    most = next((trials for word, trials in COSTLY.items() if word in drawn.id), MOST)
    graph = from_json(bytes(drawn.graph), "a finding")
    smaller = make_smaller(trials, graph, drawn.key, drawn.root, until=time.monotonic() + seconds, most=most)
    findings = [warm.finding(smaller.hit, run=True)] if smaller.hit else []
    if smaller.drawn and findings[0].proof is False:
        findings.append(warm.finding(smaller.drawn, run=True))
        findings.sort(key=lambda finding: finding.proof is False)
    spent = time.perf_counter() - began
    counts = Counts(reducing=trials.tally.trials, reducing_seconds=spent, faults=dict(warm.process.faults))
    found = (replace(finding, first_seen=drawn.first_seen, smallest=smaller.finished) for finding in findings[:1])
    return Result(warm.process.versions, counts, tuple(found), faulty=dict(warm.process.faulty), failed=smaller.failed)
