"""Smaller graphs that still fail in the same way.

Owns the loop: which candidate is asked for next, and when to stop. The graph itself is cut, and not the program that it
was drawn from, so that steps are possible which no program of fewer instructions makes: to begin half-way, to put an
inner model's calls in its place, to make all dimensions of one size smaller together. Must not import Keras, nor know
what failed: `still` says whether a candidate fails in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from clonediff.harness.search.reducing.fitting import fitted
from clonediff.harness.search.reducing.measure import Size, size
from clonediff.harness.search.reducing.passes import PASSES, Pass
from clonediff.strategies.graph import Graph, MalformedGraph, to_json
from clonediff.strategies.no_oracle import unsaid
from clonediff.strategies.targets import targets

MOST = 300
"""How often `still` is asked at most."""


@dataclass(frozen=True, slots=True)
class Reduced:
    """The smallest graph that was found, and how many candidates `still` was asked about."""

    graph: Graph
    tried: int


def reduce(graph: Graph, still: Callable[[Graph], bool], *, most: int = MOST) -> Reduced:
    """The smallest graph within reach for which `still` holds, as it does for `graph`.

    `still` is asked about graphs only that Keras can build call by call, and that are smaller than the last one it held
    for; about each once. What it raises ends the reduction. The same answers give the same graph: the limit is one of
    tries, and never one of time.
    """
    reduction = _Reduction(graph, still, most)
    while True:
        before = reduction.graph
        for each in PASSES:
            reduction.run(each)
        if reduction.graph is before or reduction.spent:
            return Reduced(reduction.graph, reduction.tried)


class _Reduction:
    """The smallest graph so far, and what was asked."""

    def __init__(self, graph: Graph, still: Callable[[Graph], bool], most: int) -> None:
        self.graph = graph
        self.tried = 0
        self._still = still
        self._most = most
        self._size: Size = size(graph)
        self._seen = {to_json(graph)}

    @property
    def spent(self) -> bool:
        return self.tried >= self._most

    def run(self, each: Pass) -> None:
        """Take what a pass offers wherever it holds.

        After each success the pass is begun anew on what is left, past the offers that were refused: they are likely to
        be refused again, and the next round makes up for it.
        """
        skip = 0
        while (at := self._step(each(self.graph), skip)) is not None:
            skip = at

    def _step(self, offers: Iterator[Graph | None], skip: int) -> int | None:
        """Take the first offer from number `skip` on that holds, and say which it was."""
        for number, offer in enumerate(offers):
            if self.spent:
                return None
            if number < skip or offer is None:
                continue
            candidate = self._suitable(offer)
            if candidate is None:
                continue
            self.tried += 1
            self._seen.add(to_json(candidate))
            if self._holds(candidate):
                self.graph, self._size = candidate, size(candidate)
                return number
        return None

    def _holds(self, candidate: Graph) -> bool:
        """Whether a graph still shows what is sought; one that no script can be written of does not."""
        try:
            return self._still(candidate)
        except MalformedGraph:
            return False

    def _suitable(self, offer: Graph) -> Graph | None:
        """The offer as `still` may be asked about it, None where it may not."""
        try:
            candidate = fitted(offer)
            if to_json(candidate) in self._seen or size(candidate) >= self._size:
                return None
        except MalformedGraph:
            return None
        there = targets(candidate) if candidate.preparations else {}
        lost = any(each.kind is not None and each.kind not in there for each in candidate.preparations)
        return None if lost or unsaid(candidate) else candidate


__all__ = ["MOST", "Reduced", "reduce"]
