"""A worker's tasks: try a shard, and reduce a finding.

A worker keeps a warm process of each subject.
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
from clonediff.harness.observation import Structure
from clonediff.harness.scripts.reproducer import script_of
from clonediff.harness.scripts.runner import ReplayAnswer, ScriptRunner
from clonediff.harness.search.reduce import MAX_TRIALS
from clonediff.harness.search.search import draw_graphs, reduce_graph
from clonediff.harness.subjects.environment import SearchPath
from clonediff.harness.subjects.outcomes import ReleaseError, RequestError, SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import search_path_of
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.checks.alignment import Pair
from clonediff.harness.trials.checks.paths import full_name
from clonediff.harness.trials.checks.skeletons import TensorNamer, tensors
from clonediff.harness.trials.cloners import allow_cloners, support_problem
from clonediff.harness.trials.graph_trials import GraphTrials, new_causes
from clonediff.harness.trials.trial import Key, Trial, TrialCause
from clonediff.reports.known import KnownIssues
from clonediff.reports.markup import reason
from clonediff.reports.records import Box, Counts, Finding, Severity
from clonediff.strategies.program import Graph, from_json, to_json

MAX_SLOW_TRIALS = {"timed-out": 2, "out-of-memory": 6, "process": 6}
"""By a part of a finding's id: the most trials for reducing it, if they are slow."""


class CampaignProcess(SubjectProcess):
    """A subject's process that counts faults of clonediff, with examples."""

    def __init__(self, subject: Subject, search_path: SearchPath) -> None:
        super().__init__(subject, search_path=search_path)
        self.faults: Counter[str] = Counter()
        self.fault_examples: dict[str, bytes] = {}

    def draw(self, request: dict[str, Any], timeout: float = 30.0) -> Graph | None:
        """Draw a graph. Return None if that fails."""
        with self.count_faults(json.encode(request)):
            return super().draw(request, timeout)
        return None

    @contextlib.contextmanager
    def count_faults(self, request: bytes) -> Iterator[None]:
        """Count a fault of clonediff in the block, instead of raising it."""
        try:
            yield
        except Exception as error:
            if isinstance(error, SubjectError) and not isinstance(error, RequestError):
                raise
            frame = traceback.extract_tb(error.__traceback__)[-1]
            location = "" if isinstance(error, SubjectError) else f" (at {frame.filename}:{frame.lineno})"
            fault = f"{reason(type(error).__name__, str(error))}{location}"
            self.faults[fault] += 1
            self.fault_examples.setdefault(fault, request)


class CampaignTrials(GraphTrials):
    """Trials that count the faults of clonediff, instead of raising them."""

    process: CampaignProcess

    def __init__(self, process: CampaignProcess, setup: Setup) -> None:
        super().__init__(process, KnownIssues(setup.known), cloners=setup.cloners, at_least=setup.at_least)
        process.faults.clear()
        process.fault_examples.clear()

    def try_graph(self, graph: Graph, *, costly: bool | None = None) -> Trial:
        with self.process.count_faults(to_json(graph)):
            return super().try_graph(graph, costly=costly)
        return Trial(skip_reason="a fault of clonediff")


class WarmSubject:
    """A subject's process, and a runner of scripts on its release."""

    def __init__(self, name: str, setup: Setup) -> None:
        subject = Subject.parse(name)
        self.setup = setup
        self.process = CampaignProcess(subject, search_path_of(subject))
        self.process.layers = setup.layers
        self._runner = ScriptRunner(subject, self.process.search_path)
        allow_cloners(setup.cloners)

    def start(self) -> None:
        """Start the process; raise if a cloner cannot be used."""
        self.process.start()
        problems = (support_problem(cloner, self.process) for cloner in self.setup.cloners)
        if problem := next(filter(None, problems), ""):
            raise ReleaseError(problem)

    def make_finding(self, trial_cause: TrialCause, *, run_script: bool = False) -> Finding:
        """Make a finding of a cause; with `run_script`, run its script alone."""
        assert trial_cause.graph is not None
        process, cause = self.process, trial_cause.cause
        script = script_of(trial_cause, process.subject.generation, process.versions)
        finding = Finding(
            id=trial_cause.id,
            title=trial_cause.title,
            generation=process.subject.generation,
            cloner=trial_cause.cloner,
            graph=Raw(to_json(trial_cause.graph)),
            differences=cause.differences if cause else (),
            source=script.text,
            versions=dict(process.versions),
            known=trial_cause.known.id if trial_cause.known else None,
            subject=str(process.subject),
            first_seen=datetime.now(UTC).isoformat(timespec="seconds"),
            blame=trial_cause.blame.value if trial_cause.blame else "",
            detail=trial_cause.detail,
            smallest=False,
            pictures=_pictures(trial_cause.pair) if trial_cause.pair else (),
        )
        if not run_script:
            return finding
        answer, message = self._runner.answer(script)
        confirmed = {ReplayAnswer.BREAKS: True, ReplayAnswer.UNKNOWN: None}.get(answer, False)
        return replace(finding, proof=confirmed, unproven=message if confirmed is None else "")

    def end(self) -> None:
        """End the processes permanently, from any thread."""
        self.process.end()
        self._runner.close()


def _pictures(pair: Pair) -> tuple[tuple[Box, ...], ...]:
    """The boxes of the original's calls and, if any, the clone's."""
    original = tuple(_boxes(pair.original.structure, pair.tensor_name))
    if pair.clone.observation is None:
        return (original,)
    return original, tuple(_boxes(pair.clone_observation.structure, pair.name_in_original))


def _boxes(model: Structure, name_of: TensorNamer) -> Iterator[Box]:
    """Yield a box for each call, in topological order."""
    layers = enumerate(model.layers)
    calls = {(index, number): call for index, layer in layers for number, call in enumerate(layer.calls)}
    inputs = {place: list(tensors([call.args, call.kwargs])) for place, call in calls.items()}
    predecessors = {place: [tensor[:2] for tensor in inputs[place] if tensor[:2] in calls] for place in calls}
    for index, number in TopologicalSorter(predecessors).static_order():
        layer = model.layers[index]
        holder = full_name(model, layer.holder) if layer.holder >= 0 else ""
        call_name = name_of((index, number, 0)).rpartition(".")[0]
        yield Box(call_name, layer.name, layer.kind, tuple(map(name_of, inputs[index, number])), holder)


_warm_subjects: dict[tuple[int, str, str], WarmSubject] = {}
"""The warm subjects of this worker, by thread, campaign and name."""
_closed_campaigns: set[str] = set()


def close_campaign(campaign: str) -> None:
    """End a campaign's processes on this worker. Tasks that use them fail."""
    _closed_campaigns.add(campaign)
    for key in [key for key in list(_warm_subjects) if key[1] == campaign]:
        _warm_subjects.pop(key).end()


def _start_subject(name: str, setup: Setup) -> WarmSubject:
    key = threading.get_ident(), setup.campaign, name
    subject = _warm_subjects[key] = _warm_subjects.get(key) or WarmSubject(name, setup)
    if setup.campaign in _closed_campaigns:  # another thread has just closed it
        close_campaign(setup.campaign)
        raise SubjectError("the campaign is over")
    subject.start()
    return subject


def try_shard(setup: Setup, shard: Shard) -> Result:
    """Try the graphs of a shard; return counts and new findings."""
    subject = _start_subject(shard.subject, setup)
    trials, process = CampaignTrials(subject.process, setup), subject.process
    losses, start = process.losses.copy(), time.perf_counter()
    findings: dict[Key, Finding] = {}
    graph_counts: Counter[Key] = Counter()
    reasons: Counter[str] = Counter()
    examples: dict[str, bytes] = {}
    for graph in _graphs(shard, trials):
        trial = trials.try_graph(graph)
        # A refused graph of the corpus does not count: its layer may be gone.
        if trial.refusal is not None and not shard.graphs:
            text = reason(trial.refusal.type, trial.refusal.message)
            reasons[text] += 1
            examples.setdefault(text, to_json(graph))
        for cause in new_causes(trial.found_causes):
            graph_counts[cause.key] += 1
            if cause.key not in findings and cause.key not in shard.seen:
                with process.count_faults(to_json(graph)):
                    findings[cause.key] = subject.make_finding(cause)
    counts = Counts(
        graphs=trials.tally.trials,
        seconds=time.perf_counter() - start,
        verdicts=_nested_counts(trials.tally.verdicts),
        worst=_nested_counts(trials.tally.worst),
        known=_nested_counts(trials.tally.known),
        refused=dict(reasons),
        faults=dict(process.faults),
        unrun=trials.tally.cannot_run,
        losses=dict(process.losses - losses),
    )
    faults = dict(process.fault_examples)
    return Result(process.versions, counts, tuple(findings.values()), dict(graph_counts), examples, faults)


def _graphs(shard: Shard, trials: CampaignTrials) -> Iterator[Graph]:
    yield from (from_json(graph, "a graph of the corpus") for graph in shard.graphs)
    for seed, size in shard.blocks:
        yield from draw_graphs(trials.process, seed, size, cloners=trials.cloners)


def _nested_counts(counts: Mapping[tuple[str, Any], int]) -> dict[str, dict[str, int]]:
    """Counts by pair as counts by first item, then by second."""
    rows: dict[str, dict[str, int]] = {}
    for (name, key), count in counts.items():
        rows.setdefault(name, {})[key.word if isinstance(key, Severity) else key] = count
    return rows


def reduce_finding(setup: Setup, finding: Finding, seconds: float) -> Result:
    """Reduce a finding for at most `seconds`, then run its script alone.

    If the script of the smallest graph does not fail alone, try the script of the drawn graph.
    """
    start = time.perf_counter()
    subject = _start_subject(finding.subject, setup)
    trials, process = CampaignTrials(subject.process, setup), subject.process
    max_trials = next((limit for word, limit in MAX_SLOW_TRIALS.items() if word in finding.id), MAX_TRIALS)
    graph = from_json(bytes(finding.graph), "a finding")
    deadline = time.monotonic() + seconds
    reduction = reduce_graph(trials, graph, finding.key, finding.root, deadline=deadline, max_trials=max_trials)
    findings = [subject.make_finding(reduction.smallest_cause, run_script=True)] if reduction.smallest_cause else []
    if reduction.drawn_cause and findings[0].proof is False:
        findings.append(subject.make_finding(reduction.drawn_cause, run_script=True))
        findings.sort(key=lambda item: item.proof is False)
    elapsed = time.perf_counter() - start
    counts = Counts(reducing=trials.tally.trials, reducing_seconds=elapsed, faults=dict(process.faults))
    findings = [replace(item, first_seen=finding.first_seen, smallest=reduction.is_finished) for item in findings[:1]]
    examples = dict(process.fault_examples)
    return Result(process.versions, counts, tuple(findings), fault_examples=examples, failure=reduction.failure)
