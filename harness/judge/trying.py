"""A candidate tried on graphs, each beside what the release's own cloner and the fixed one make of it.

Owns what is counted: on which graphs a candidate breaks what worked, on which it leaves broken what did not, and the
smallest graph of each kind. Must not import Keras.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec
from hypothesis.strategies import SearchStrategy

from harness.judge.seats import Reference
from harness.judge.verdicts import Charge, charged
from harness.search.draw_and_shrink import search
from harness.subjects.process import SubjectProcess
from harness.trials.cases import case_of
from harness.trials.graph_trials import LOST, REFUSED, GraphTrials, Hit, Key
from harness.trials.triage import Blame, Verdict, title
from harness.trials.trial import Case, Trial, run
from reports.known import KnownIssues
from reports.records import Cause, Cost, Difference
from strategies.graph import Graph, to_json

MOST_LOST = 3
"""The processes that a candidate may take with it; after that it is not given another."""


DRAWN = "a graph drawn at random"

SHRINKING = 4.0
"""The seconds that a break may be made smaller for once the time for drawing is over."""

SMALL = 2
"""The calls of a graph that need not be made fewer."""


class GivenUpError(RuntimeError):
    """A candidate that has cost too many processes."""


@dataclass(frozen=True, slots=True)
class Sight:
    """One graph, seen. `charges` has the causes that the candidate shows; `own` its trial."""

    graph: Graph
    case: Case
    own: Trial
    reference: Trial | None
    charges: tuple[tuple[Cause, Charge], ...]

    @property
    def built(self) -> bool:
        """Whether the graph says anything: the untouched release builds it."""
        return self.reference is None or self.reference.built

    def has(self, charge: Charge) -> bool:
        """Whether a charge of this sort is among them."""
        return any(one is charge for _, one in self.charges)

    @property
    def held(self) -> bool:
        """Whether nothing is held against the candidate here."""
        return not (self.has(Charge.BREAKS) or self.has(Charge.LEAVES))


@dataclass(slots=True)
class Shown:
    """A way of breaking: how often it was met, and the smallest graph that shows it."""

    charge: Charge
    cause: Cause
    graph: Graph
    first_on: str
    case: Case
    graphs: set[bytes] = field(default_factory=set)


class Candidate:
    """A cloner on trial, by its name in its process. `shared` says whether limits that fixed shares are excused."""

    def __init__(
        self,
        process: SubjectProcess,
        reference: Reference,
        documented: KnownIssues,
        *,
        cloner: str = "candidate",
        shared: bool = True,
    ) -> None:
        """Nothing is tried yet."""
        self.process = process
        self.reference = reference
        self.cloner = cloner
        self.shown: dict[tuple[Charge, str], Shown] = {}
        self.sights: dict[bytes, Sight] = {}
        self._documented = documented
        self._shared = shared
        self._before = process.restarts

    def see(self, graph: Graph, where: str, *, kept: bool = True) -> Sight:
        """Try a graph and, with `kept`, count it. A graph on which it is faithful needs no comparison."""
        key = to_json(graph)
        if key in self.sights:
            return self.sights[key]
        if self.process.restarts - self._before >= MOST_LOST:
            raise GivenUpError(f"it has ended or held up its process {MOST_LOST} times: given up")
        sight = self._sight(graph)
        self._note(key, sight, where, kept)
        return sight

    def search(
        self,
        graphs: SearchStrategy[Graph],
        *,
        seconds: float,
        examples: int,
        seed_: int,
        after_each: Callable[[], None] = lambda: None,
    ) -> int:
        """Draw graphs for that long, each break made small before the next is looked for. How many were drawn.

        What known graphs have shown is looked past: they are small.
        """
        until = time.monotonic() + seconds
        hunt = _Tries(self)
        seen: set[Key] = {
            (charge.value, shown.cause.fingerprint, "")
            for (charge, _), shown in self.shown.items()
            if charge is not Charge.BREAKS or len(shown.graph.calls) <= SMALL
        }
        turn = 0
        while time.monotonic() < until and hunt.tally.drawn < examples:
            found = search(
                hunt,
                graphs,
                examples=examples - hunt.tally.drawn,
                seed_=seed_ * 1_000_003 + turn,
                seen=seen,
                until=until,
                after_each=after_each,
                shrinking=SHRINKING,
            )
            turn += 1
            if found is not None:
                seen.add(found.key)
        return hunt.tally.drawn

    def charges(self, charge: Charge) -> list[Shown]:
        """What it shows of a sort: known graphs before drawn ones, then the costliest, then what shows most often."""
        its = [shown for (one, _), shown in self.shown.items() if one is charge]
        return sorted(its, key=lambda shown: (shown.first_on == DRAWN, shown.cause.rank, -len(shown.graphs)))

    def count(self, test: Callable[[Sight], bool]) -> int:
        """On how many graphs that is so."""
        return sum(test(sight) for sight in self.sights.values() if sight.built)

    def _sight(self, graph: Graph) -> Sight:
        case = case_of(graph, self.process.subject.dialect)
        if self.process is self.reference.process:
            own = self.reference.trial(graph)
            reference: Trial | None = own
        else:
            own = run(case, self.process, [self.cloner])
            clean = own.built and own.clones[self.cloner].verdict is Verdict.FAITHFUL
            reference = None if clean else self.reference.trial(graph)
        return Sight(graph, case, own, reference, tuple(self._charged(own, reference)))

    def _charged(self, own: Trial, reference: Trial | None) -> Iterator[tuple[Cause, Charge]]:
        if reference is None or not reference.built:
            return
        if not own.built:
            yield _unbuilt(own), Charge.BREAKS
            return
        yield from charged(
            own.clones[self.cloner].causes,
            reference.clones["upstream"].causes,
            reference.clones["fixed"].causes if self._shared else (),
            lambda cause: self._documented.of(cause) is not None,
        )

    def _note(self, key: bytes, sight: Sight, where: str, kept: bool) -> None:
        if kept:
            self.sights[key] = sight
        for cause, charge in sight.charges:
            mark = charge, cause.fingerprint
            shown = self.shown.get(mark)
            if shown is None:
                shown = self.shown[mark] = Shown(charge, cause, sight.graph, where, sight.case)
            elif _size(sight.graph) < _size(shown.graph):
                shown.cause, shown.graph, shown.case = cause, sight.graph, sight.case
            if kept:
                shown.graphs.add(key)


class _Tries(GraphTrials):
    """A hunt for what a candidate breaks. Only graphs that were drawn count, not those that make one smaller."""

    def __init__(self, candidate: Candidate) -> None:
        super().__init__(candidate.process, KnownIssues(), cloners=(candidate.cloner,), rate=0)
        self._candidate = candidate
        self._drawn = 0

    def try_graph(self, graph: Graph, *, costly: bool | None = None) -> list[Hit]:
        drawn, self._drawn = self.tally.drawn > self._drawn, self.tally.drawn
        sight = self._candidate.see(graph, DRAWN, kept=drawn)
        self.tally.trials += 1
        return [
            Hit(cause.fingerprint, charge.value, title(cause), sight.case, graph, cause, Blame.ITS_OWN)
            for cause, charge in sight.charges
            if charge is not Charge.LIMIT
        ]


def _unbuilt(own: Trial) -> Cause:
    """A model that the untouched release builds, and this process no longer does."""
    if own.lost is not None:
        return Cause(LOST, own.lost, rank=Cost.CRASHES)
    said = f"{own.refused.type}: {own.refused.message}" if own.refused else "no answer"
    difference = Difference("made", "model", "original refused", "a model", said, Cost.CRASHES)
    return Cause(REFUSED, difference, rank=Cost.CRASHES)


def _size(graph: Graph) -> tuple[int, int]:
    return len(graph.calls) + len(graph.inputs), len(msgspec.json.encode(graph))
