"""A candidate tried on graphs, each beside what the untouched release and the fixed cloner make of it.

Owns what is remembered of that: the graphs with their effects, and for each cause the smallest graph that shows it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import msgspec
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from clonediff.harness.inside.failures import CANDIDATE_FILE
from clonediff.harness.judge.effects import COUNTED, FixEffect, KnownBugs, effects, loud, makes_a_clone
from clonediff.harness.judge.processes import Reference
from clonediff.harness.search.draw_and_shrink import search
from clonediff.harness.subjects.observation import Answer
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.asking import asked
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.checks import CHECKS
from clonediff.harness.trials.graph_trials import LOST, GraphTrials, Hit, Key, TriedGraph
from clonediff.harness.trials.triage import Verdict, title
from clonediff.harness.trials.trial import Case, Trial, lost_difference
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import Blame, Cause, Cost
from clonediff.strategies.asking import asking
from clonediff.strategies.graph import Graph, to_json

MOST_LOST = 3
"""The processes that a candidate may take with it; after that it is not given another."""

DRAWN = "a graph drawn at random"

SHRINKING = 4.0
"""The seconds that a break may be made smaller for once the time for drawing is over."""

SMALL = 2
"""The calls of a graph that need not be made fewer."""


class GivenUpError(RuntimeError):
    """A candidate that has cost too many processes."""


class RaisedAt(msgspec.Struct, frozen=True):
    """Where in the candidate's own file something was raised."""

    line: int
    function: str


@dataclass(frozen=True, slots=True)
class GraphTried:
    """One graph, tried: what the candidate made of it, the reference's trial where it was asked, causes and effects."""

    graph: Graph
    case: Case
    own: Trial
    reference: Trial | None
    causes: tuple[tuple[Cause, FixEffect], ...]

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

    @property
    def worked(self) -> bool:
        """Whether the release's own cloner makes a clone here."""
        return makes_a_clone(self.upstream)

    @property
    def effect(self) -> FixEffect | None:
        """The worst that the candidate does here; None where nothing speaks against it."""
        return self.effect_without(())

    def effect_without(self, wrong: Collection[tuple[FixEffect, str]]) -> FixEffect | None:
        """The same, but for these effects with the fingerprints of their causes."""
        its = {effect for cause, effect in self.causes if (effect, cause.fingerprint) not in wrong}
        return next((effect for effect in COUNTED if effect in its), None)

    @property
    def fixed(self) -> bool:
        """Whether nothing speaks against it where something speaks against the release."""
        return self.effect is None and bool(self.upstream)

    @property
    def uncovered(self) -> bool:
        """Whether the release raises here, and a known bug of its own shows now, without a word."""
        silent = not any(loud(cause) for cause, _ in self.causes)
        return self.effect is FixEffect.LEAVES and any(map(loud, self.upstream)) and silent


@dataclass(slots=True)
class CauseOnGraphs:
    """A cause with one effect: the graphs that show it, the smallest of them, and what the release said there."""

    effect: FixEffect
    cause: Cause
    first_on: str
    smallest: GraphTried
    graphs: set[bytes] = field(default_factory=set)

    @property
    def before(self) -> Cause | None:
        """The exception that was there, of something that is silent now."""
        return next(filter(loud, self.smallest.upstream), None) if self.effect is FixEffect.SILENCES else None


class Candidate(GraphTrials):
    """What a cloner breaks, by its name in its process, on graphs that are given and then on drawn ones.

    `shared` says whether limits that fixed shares are excused. Of graphs that are drawn only those count that do not
    make one smaller.
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
        super().__init__(process, KnownIssues(), cloners=(cloner,), rate=0)
        self.reference = reference
        self.cloner = cloner
        self.causes: dict[tuple[FixEffect, str], CauseOnGraphs] = {}
        self.graphs: dict[bytes, GraphTried] = {}
        self._bugs = bugs
        self._shared = shared
        self._restarts = process.restarts
        self._counted = 0

    def try_from(self, graph: Graph, where: str, *, counts: bool = True) -> GraphTried:
        """Try a graph and, where it `counts`, remember it."""
        key = to_json(graph)
        if key in self.graphs:
            return self.graphs[key]
        if self.process.restarts - self._restarts >= MOST_LOST:
            raise GivenUpError(f"it has ended or held up its process {MOST_LOST} times: given up")
        tried = self._tried(graph)
        self._remember(key, tried, where, counts)
        return tried

    def try_graph(self, graph: Graph, *, costly: bool | None = None) -> TriedGraph:
        """Try a graph that was drawn."""
        drawn, self._counted = self.tally.drawn > self._counted, self.tally.drawn
        tried = self.try_from(graph, DRAWN, counts=drawn)
        hits = [
            Hit(cause.fingerprint, effect.value, title(cause), tried.case, graph, replace(cause, blame=Blame.ITS_OWN))
            for cause, effect in tried.causes
            if effect in COUNTED
        ]
        return TriedGraph(tried.own, tuple(hits))

    def draw(
        self,
        graphs: SearchStrategy[Graph],
        *,
        seconds: float,
        examples: int,
        seed_: int,
        after_each: Callable[[], None] = lambda: None,
    ) -> None:
        """Draw graphs for that long, each break made small before the next is looked for.

        What known graphs have shown is looked past: they are small.
        """
        until = time.monotonic() + seconds
        seen: set[Key] = {
            (effect.value, each.cause.fingerprint, "")
            for (effect, _), each in self.causes.items()
            if effect not in (FixEffect.SILENCES, FixEffect.BREAKS) or len(each.smallest.graph.calls) <= SMALL
        }
        turn = 0
        while time.monotonic() < until and self.tally.drawn < examples:
            found = search(
                self,
                graphs,
                examples=examples - self.tally.drawn,
                seed_=seed_ * 1_000_003 + turn,
                seen=seen,
                until=until,
                after_each=after_each,
                shrinking=SHRINKING,
            )
            turn += 1
            if found is not None:
                seen.add(found.key)

    def raised_at(self, shown: CauseOnGraphs) -> RaisedAt | None:
        """The line of the candidate's file that raises, found by cloning the smallest graph once more."""
        root = shown.cause.root
        if root.check != "made" or root.path == "process" or self.cloner != "candidate":
            return None
        outcome = self.process.trial(shown.smallest.case, cloners=[self.cloner])
        clone = outcome.clones.get(self.cloner) if isinstance(outcome, Answer) else None
        if clone is None or clone.failure is None:
            return None
        lines = [frame for frame in clone.failure.frames if frame.file == CANDIDATE_FILE]
        return RaisedAt(lines[-1].line, lines[-1].function) if lines else None

    def _tried(self, graph: Graph) -> GraphTried:
        with asking(asked(self.process)):
            case = case_of(graph, self.process.subject.dialect)
        if self.process is self.reference.process:
            own = self.reference.trial(graph)
            return GraphTried(graph, case, own, own, tuple(self._effects(own, own)))
        own = self.try_case(case).trial
        clean = own.built and own.clones[self.cloner].verdict is Verdict.FAITHFUL
        # Where it is faithful there is nothing to hold against the release; what is known of it by now is free.
        reference = self.reference.had(graph) if clean else self.reference.trial(graph)
        return GraphTried(graph, case, own, reference, tuple(self._effects(own, reference)))

    def _effects(self, own: Trial, reference: Trial | None) -> Sequence[tuple[Cause, FixEffect]]:
        if reference is None or not reference.built:
            return ()
        if not own.built:
            return [(_unbuilt(own), FixEffect.BREAKS)]
        fixed = reference.clones["fixed"].causes if self._shared else ()
        return effects(own.clones[self.cloner].causes, reference.clones["upstream"].causes, fixed, self._bugs)

    def _remember(self, key: bytes, tried: GraphTried, where: str, counts: bool) -> None:
        if counts:
            self.graphs[key] = tried
        for cause, effect in tried.causes:
            mark = effect, cause.fingerprint
            shown = self.causes.get(mark)
            if shown is None:
                shown = self.causes[mark] = CauseOnGraphs(effect, cause, where, tried)
            elif _size(tried.graph) < _size(shown.smallest.graph):
                shown.cause, shown.smallest = cause, tried
            if counts:
                shown.graphs.add(key)


def _unbuilt(own: Trial) -> Cause:
    """A model that the untouched release builds, and this process no longer does."""
    if own.lost is not None:
        return Cause(LOST, lost_difference(own.lost), rank=Cost.CRASHES)
    said = f"{own.refused.type}: {own.refused.message}" if own.refused else "no answer"
    difference = CHECKS["made"].aspects.differs("original refused", "model", "a model", said, None)
    return Cause("original-refused", difference, rank=Cost.CRASHES)


def _size(graph: Graph) -> tuple[int, int]:
    return len(graph.calls) + len(graph.inputs), len(msgspec.json.encode(graph))
