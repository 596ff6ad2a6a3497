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
from typing import Any

from msgspec.structs import replace

from clonediff.harness.campaign.findings import finding_of
from clonediff.harness.campaign.shards import Result, Setup, Shard, TaskFailed
from clonediff.harness.scripts.alone import ReplayAnswer, ScriptRunner
from clonediff.harness.scripts.reproducer import script_of
from clonediff.harness.search.hunt import draws, make_smaller
from clonediff.harness.search.reduce import MOST
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
from clonediff.reports.records import Counts, Finding, Severity
from clonediff.strategies.program import Graph, from_json, to_json

COSTLY = {"timed-out": 2, "out-of-memory": 6, "process": 6}
"""The most trials for a finding whose trials each cost a process or a minute."""


class WarmSubject:
    """A subject's process, and what runs scripts on its release."""

    def __init__(self, name: str, setup: Setup) -> None:
        subject = Subject.parse(name)
        self.process = SubjectProcess(subject, place=place_of(subject))
        self._scripts = ScriptRunner(subject, self.process.place)
        self._setup = setup
        self.process.start()
        allow_cloners(setup.cloners)
        self.process.layers = setup.layers
        problems = (unsupported_cloner(cloner, self.process) for cloner in setup.cloners)
        if problem := next(filter(None, problems), ""):
            self.close()
            raise ReleaseError(problem)

    def trials(self) -> GraphTrials:
        """Trials with nothing counted yet."""
        known, setup = KnownIssues(self._setup.known), self._setup
        return GraphTrials(self.process, known, cloners=setup.cloners, at_least=setup.at_least)

    def finding(self, hit: Hit, *, run: bool = False) -> Finding:
        """A hit as it is kept; with `run`, its script is run alone."""
        script = script_of(hit, self.process.subject.generation, self.process.versions)
        finding = finding_of(hit, script, self.process)
        if not run:
            return finding
        answer, reason = self._scripts.answer(script)
        proof = {ReplayAnswer.BREAKS: True, ReplayAnswer.UNKNOWN: None}.get(answer, False)
        return replace(finding, proof=proof, unproven=reason if proof is None else "")

    def close(self) -> None:
        """End the processes."""
        self.process.close()
        self._scripts.close()


_WARM: dict[tuple[int, str, str], WarmSubject] = {}
"""The warm subjects of this worker, by thread, campaign and name."""
_CLOSED: set[str] = set()


def close(campaign: str) -> None:
    """End the processes of a campaign on this worker. A task of it that still runs ends before its next graph."""
    _CLOSED.add(campaign)
    for key in [key for key in _WARM if key[1] == campaign]:
        _WARM.pop(key).close()


def _warm(name: str, setup: Setup) -> WarmSubject:
    key = threading.get_ident(), setup.campaign, name
    if key not in _WARM:
        _WARM[key] = WarmSubject(name, setup)
    return _WARM[key]


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    """Raise every exception as a `TaskFailed`: not every other can be sent to the driver."""
    try:
        yield
    except SubjectError as error:
        final = isinstance(error, (ReleaseError, NoDeviceError)) or error.failure is not None
        raise TaskFailed(str(error), final) from None
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        raise TaskFailed(f"{type(error).__name__}: {error} (at {frame.filename}:{frame.lineno})") from None


@_failures()
def try_shard(setup: Setup, shard: Shard) -> Result:
    """Try each graph of a shard."""
    warm = _warm(shard.subject, setup)
    trials, process = warm.trials(), warm.process
    losses = process.losses.copy()
    began = time.perf_counter()
    findings: dict[Key, Finding] = {}
    met: Counter[Key] = Counter()
    reasons: Counter[str] = Counter()
    refused: dict[str, bytes] = {}
    for graph in _graphs(shard, trials):
        if setup.campaign in _CLOSED:
            raise SubjectError("the campaign is over")
        trial = trials.try_graph(graph)
        # What the corpus has another release may lack, and layers of the user's own may be gone.
        if trial.refused is not None and not shard.graphs:
            why = reason(trial.refused.type, trial.refused.message)
            reasons[why] += 1
            refused.setdefault(why, to_json(graph))
        for hit in new_hits(trial.hits):
            met[hit.key] += 1
            if hit.key not in findings:
                findings[hit.key] = warm.finding(hit)
    counts = Counts(
        graphs=trials.tally.trials,
        seconds=time.perf_counter() - began,
        verdicts=_rows(trials.tally.verdicts),
        worst=_rows(trials.tally.worst),
        known=_rows(trials.tally.known),
        refused=dict(reasons),
        unrun=trials.tally.unrun,
        losses=dict(process.losses - losses),
    )
    return Result(process.versions, counts, tuple(findings.values()), dict(met), refused)


def _graphs(shard: Shard, trials: GraphTrials) -> Iterator[Graph]:
    """The graphs of a shard. The shard that opens the draws has the simplest of all, too."""
    yield from (from_json(stored, "a graph of the corpus") for stored in shard.graphs)
    if shard.opens:
        simplest = trials.process.draw({"parts": ["00", "00"]})
        assert simplest is not None
        yield simplest
    yield from draws(trials.process, shard.seed, shard.count - shard.opens, cloners=trials.cloners)


def _rows(counts: Mapping[tuple[str, Any], int]) -> dict[str, dict[str, int]]:
    """Counts of pairs, a row for each first of a pair."""
    rows: dict[str, dict[str, int]] = {}
    for (name, word), count in counts.items():
        rows.setdefault(name, {})[word.word if isinstance(word, Severity) else word] = count
    return rows


@_failures()
def reduce_finding(setup: Setup, drawn: Finding, seconds: float) -> Result:
    """Cut the graph of a finding for so long, then run its script alone.

    If the script of the smallest graph does not fail alone, the graph as it was drawn may have one that does.
    """
    began = time.perf_counter()
    warm = _warm(drawn.subject, setup)
    trials = warm.trials()
    most = next((trials for word, trials in COSTLY.items() if word in drawn.id), MOST)
    graph = from_json(bytes(drawn.graph), "a finding")
    smaller = make_smaller(trials, graph, drawn.key, drawn.root, until=time.monotonic() + seconds, most=most)
    findings = [warm.finding(smaller.hit, run=True)] if smaller.hit else []
    if smaller.drawn and findings[0].proof is False:
        findings.append(warm.finding(smaller.drawn, run=True))
        findings.sort(key=lambda finding: finding.proof is False)
    counts = Counts(reducing=trials.tally.trials, reducing_seconds=time.perf_counter() - began)
    changes = {"first_seen": drawn.first_seen, "smallest": smaller.finished}
    found = tuple(replace(finding, **changes) for finding in findings[:1])
    return Result(warm.process.versions, counts, found, failed=smaller.failed)
