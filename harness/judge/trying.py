"""A candidate tried on graphs, each beside what the untouched release and the fixed cloner make of it.

Owns the order (the reported bug, known graphs, fresh ones), and what is remembered: the graphs with their effects, and
for each cause the smallest graph that shows it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from clonediff.harness.drawing.drawable_kinds import graphs_on
from clonediff.harness.judge.effects import COUNTED, WORSE, FixEffect, KnownBugs, effects, loud
from clonediff.harness.judge.graphs import REPORTED
from clonediff.harness.judge.processes import LOADING, own_frame
from clonediff.harness.scripts.known_scripts import case_of_script
from clonediff.harness.search.draw_and_reduce import search
from clonediff.harness.subjects.observation import Answer, Frame
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.warm_child import Limits
from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.graph_trials import Costly, GraphTrials
from clonediff.harness.trials.triage import Verdict, title
from clonediff.harness.trials.trial import LOST, Case, Hit, Key, Trial, lost_difference
from clonediff.reports.known import KnownIssue, KnownIssues
from clonediff.reports.records import UPSTREAM_AND_FIXED, Blame, Cause, Severity
from clonediff.strategies.graph import Graph, to_json

_MADE_SMALLER = (*WORSE, FixEffect.OTHERWISE)
"""The effects of a drawn graph that is worth making smaller. What is left as it was is counted, and no more."""

MOST_LOST = 3
"""The processes that a candidate may take with it; after that it is not given another."""

DRAWN = "a graph drawn at random"

REDUCING = 4.0
"""The seconds that a break may be made smaller for once the time for drawing is over."""

SMALL = 2
"""The calls of a graph that need not be made fewer."""

Say: TypeAlias = Callable[[str, float], None]
Mark: TypeAlias = tuple[FixEffect, str]
"""An effect, and the fingerprint of a cause that has it."""


class GivenUpError(RuntimeError):
    """A candidate that has cost too many processes."""


@dataclass(frozen=True, slots=True)
class JudgeBudget:
    """How long fresh graphs are drawn for each candidate, and how many; the limits of a trial and of loading.

    `short` are the seconds for a candidate that holds on no known graph: they are for the smallest one.
    """

    seconds: float = 8.0
    graphs: int = 400
    seed: int = 0
    short: float = 2.0
    limits: Limits = field(default_factory=lambda: Limits(trial=15.0, cloning=0))
    loading: float = LOADING


@dataclass(frozen=True, slots=True)
class GraphTried:
    """One graph, tried: what the candidate made of it, the reference's trial where it was asked, causes and effects."""

    graph: Graph | KnownIssue
    case: Case
    own: Trial
    reference: Trial | None
    causes: Sequence[tuple[Cause, FixEffect]]

    @property
    def built(self) -> bool:
        """Whether the graph says anything: the untouched release builds it."""
        return self.reference is None or self.reference.built

    @property
    def upstream(self) -> tuple[Cause, ...]:
        """What the release's own cloner breaks here; it is not asked where the candidate is faithful on a new graph."""
        if self.reference is None or not self.reference.built:
            return ()
        return self.reference.clones["upstream"].causes

    def worst(self, but_for: Collection[Mark] = ()) -> FixEffect | None:
        """The worst that the candidate does here; None where nothing, but for these, speaks against it."""
        its = {effect for cause, effect in self.causes if (effect, cause.fingerprint) not in but_for}
        return next((effect for effect in COUNTED if effect in its), None)

    @property
    def uncovered(self) -> bool:
        """Whether the release raises here, and a known bug of its own shows now, silently."""
        silent = not any(loud(cause) for cause, _ in self.causes)
        return self.worst() is FixEffect.LEAVES and any(map(loud, self.upstream)) and silent


@dataclass(slots=True)
class CauseOnGraphs:
    """A cause with one effect: the graphs that show it, and the smallest of them. `script` is the name of its script,
    `reproduced` whether that fails on its own, `place` where in the candidate's file it raised.
    """

    effect: FixEffect
    cause: Cause
    first_on: str
    smallest: GraphTried
    graphs: set[bytes] = field(default_factory=set)
    place: Frame | None = None
    script: str | None = None
    reproduced: bool | None = None

    @property
    def before(self) -> Cause | None:
        """The exception that was there, of something that is silent now."""
        return next(filter(loud, self.smallest.upstream), None) if self.effect is FixEffect.SILENCES else None


class Reference(GraphTrials):
    """The release's own cloner and the fixed one: each graph is tried once, and compared with every candidate."""

    def __init__(self, process: SubjectProcess, cloners: Sequence[str] = UPSTREAM_AND_FIXED) -> None:
        """`process` is the release, untouched."""
        super().__init__(process, KnownIssues(), cloners=cloners)
        self._models: dict[bytes, Graph | KnownIssue] = {}
        self._trials: dict[bytes, Trial] = {}
        self._asked = threading.Lock()

    def models(self) -> list[Graph | KnownIssue]:
        """Every model that it was asked about."""
        return list(self._models.values())

    def had(self, model: Graph | KnownIssue) -> Trial | None:
        """The trial of a model, if there was one."""
        return self._trials.get(key_of(model))

    def trial(self, model: Graph | KnownIssue) -> Trial:
        """The trial of a model."""
        key = key_of(model)
        with self._asked:
            if key not in self._trials:
                self._models[key] = model
                self._trials[key] = self.try_case(_case(self, model))
            return self._trials[key]

    @contextmanager
    def ahead(self, graphs: Collection[Graph | KnownIssue]) -> Iterator[None]:
        """A scope beside which these graphs are tried, in another thread: their trials are there when asked for."""
        ended = threading.Event()

        def try_them() -> None:
            for graph in graphs:
                if ended.is_set():
                    return
                self.trial(graph)

        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(try_them)
            try:
                yield
            finally:
                ended.set()
            running.result()


class Candidate(GraphTrials):
    """The trials of one cloner, which goes by a name in its process, and what they have shown.

    `shared` says whether what the fixed cloner breaks as well is excused. Graphs that are tried only to make a finding
    smaller are not counted. `reported` is the model of the bug report; `stopped` says why not all graphs were tried.
    """

    def __init__(
        self,
        process: SubjectProcess,
        reference: Reference,
        bugs: KnownBugs,
        *,
        cloner: str = "candidate",
        shared: bool = True,
    ) -> None:
        """Nothing is tried yet."""
        super().__init__(process, KnownIssues(), cloners=(cloner,))
        self.reference = reference
        self.cloner = cloner
        self.causes: dict[Mark, CauseOnGraphs] = {}
        self.graphs: dict[bytes, GraphTried] = {}
        self.reported: GraphTried | None = None
        self.stopped = ""
        self._bugs = bugs
        self._shared = shared
        self._restarts = process.restarts
        self._counted = 0

    def try_all(
        self, known: Mapping[str, Graph | KnownIssue], budget: JudgeBudget, say: Say, *, fresh: bool = True
    ) -> None:
        """Try the reported bug, the known graphs and, if asked for, fresh ones."""
        try:
            say("the reported bug", 0.0)
            self.reported = self.try_from(REPORTED, "the bug report")
            holds = False
            for number, (name, graph) in enumerate(known.items()):
                say(f"known graphs, {number} of {len(known)}", 0.1 + 0.4 * number / len(known))
                holds |= self.try_from(graph, name).worst() is None
            if fresh:
                say("fresh graphs", 0.5)
                self._draw(
                    graphs_on(self.process, cloners=("candidate",)),
                    budget.seconds if holds else min(budget.seconds, budget.short),
                    budget,
                    lambda: say(f"fresh graphs, {len(self.graphs)} tried", 0.7),
                )
        except GivenUpError as error:
            self.stopped = str(error)

    def try_from(self, graph: Graph | KnownIssue, where: str, *, counts: bool = True) -> GraphTried:
        """Try a graph and, where it `counts`, remember it."""
        key = key_of(graph)
        if key in self.graphs:
            return self.graphs[key]
        if self.process.restarts - self._restarts >= MOST_LOST:
            raise GivenUpError(f"it has ended or held up its process {MOST_LOST} times: given up")
        tried = self._tried(graph)
        if counts:
            self.graphs[key] = tried
        for cause, effect in tried.causes:
            shown = self.causes.setdefault((effect, cause.fingerprint), CauseOnGraphs(effect, cause, where, tried))
            if _size(tried.case) < _size(shown.smallest.case):
                shown.cause, shown.smallest = cause, tried
            if counts:
                shown.graphs.add(key)
        return tried

    def try_graph(self, graph: Graph, *, costly: Costly = None) -> Trial:
        """Try a graph that was drawn."""
        drawn, self._counted = self.tally.drawn > self._counted, self.tally.drawn
        tried = self.try_from(graph, DRAWN, counts=drawn)
        hits = [
            Hit(cause.fingerprint, effect.value, title(cause), tried.case, graph, replace(cause, blame=Blame.ITS_OWN))
            for cause, effect in tried.causes
            if effect in _MADE_SMALLER
        ]
        return replace(tried.own, hits=tuple(hits))

    def raised_at(self, shown: CauseOnGraphs) -> Frame | None:
        """The frame of the candidate's file that raises, found by cloning the smallest graph once more."""
        root = shown.cause.root
        if root.check != "made" or root.path == "process" or self.cloner != "candidate":
            return None
        outcome = self.process.trial(shown.smallest.case, cloners=[self.cloner])
        clone = outcome.clones.get(self.cloner) if isinstance(outcome, Answer) else None
        return None if clone is None or clone.failure is None else own_frame(clone.failure)

    def _draw(
        self, graphs: SearchStrategy[Graph], seconds: float, budget: JudgeBudget, after_each: Callable[[], None]
    ) -> None:
        """Draw graphs for that long, each break made small before the next is looked for.

        What known graphs have shown is looked past: they are small.
        """
        until = time.monotonic() + seconds
        seen: set[Key] = {
            (effect.value, each.cause.fingerprint)
            for (effect, _), each in self.causes.items()
            if effect not in (FixEffect.SILENCES, FixEffect.BREAKS) or _is_small(each.smallest.graph)
        }
        turn = 0
        while time.monotonic() < until and self.tally.drawn < budget.graphs:
            found = search(
                self,
                graphs,
                examples=budget.graphs - self.tally.drawn,
                seed_=budget.seed * 1_000_003 + turn,
                seen=seen,
                until=until,
                after_each=after_each,
                reducing=REDUCING,
            )
            turn += 1
            if found is not None:
                seen.add(found.key)

    def _tried(self, graph: Graph | KnownIssue) -> GraphTried:
        case = _case(self, graph)
        if self.process is self.reference.process:
            own = self.reference.trial(graph)
            return GraphTried(graph, case, own, own, self._effects(own, own))
        own = self.try_case(case)
        clean = own.built and own.clones[self.cloner].verdict is Verdict.FAITHFUL
        # Where it is faithful there is nothing to hold against the release; what is known of it by now is free.
        reference = self.reference.had(graph) if clean else self.reference.trial(graph)
        return GraphTried(graph, case, own, reference, self._effects(own, reference))

    def _effects(self, own: Trial, reference: Trial | None) -> Sequence[tuple[Cause, FixEffect]]:
        if reference is None or not reference.built:
            return ()
        if not own.built:
            return [(_unbuilt(own), FixEffect.BREAKS)]
        fixed = reference.clones["fixed"].causes if self._shared else ()
        return effects(own.clones[self.cloner].causes, reference.clones["upstream"].causes, fixed, self._bugs)


def _unbuilt(own: Trial) -> Cause:
    """A model that the untouched release builds, and this process no longer does."""
    if own.lost is not None:
        return Cause(LOST, lost_difference(own.lost), severity=Severity.CRASHES)
    said = f"{own.refused.type}: {own.refused.message}" if own.refused else "no answer"
    difference = differs("made", "original refused", "model", "a model", said, None)
    return Cause("original-refused", difference, severity=Severity.CRASHES)


def key_of(model: Graph | KnownIssue) -> bytes:
    """What tells a model from all others, as JSON."""
    return msgspec.json.encode(model.id) if isinstance(model, KnownIssue) else to_json(model)


def _case(trials: GraphTrials, model: Graph | KnownIssue) -> Case:
    if isinstance(model, KnownIssue):
        return case_of_script(model)
    with trials.asking():
        return trials.case(model)


def _is_small(model: Graph | KnownIssue) -> bool:
    return isinstance(model, KnownIssue) or len(model.calls) <= SMALL


def _size(case: Case) -> tuple[int, int]:
    return case.source.count("\n"), len(case.source)
