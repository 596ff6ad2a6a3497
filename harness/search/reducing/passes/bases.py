"""What a pass is, how one that works on a model works on the models in it too, and what calls take and give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from clonediff.harness.search.reducing.rewiring import trimmed, with_inner
from clonediff.strategies.asking import fed, infer
from clonediff.strategies.graph import Graph, MalformedGraph
from clonediff.strategies.kinds import Specs

Offers: TypeAlias = Iterator[Graph | None]

Pass: TypeAlias = Callable[[Graph], Offers]
"""From a whole graph to smaller ones; None stands for one that names what is not there."""

Cut: TypeAlias = Callable[[Graph], Offers]
"""The same for one level of nesting. It leaves the inputs as they are: those that it makes idle are seen to here."""


def everywhere(cut: Cut) -> Pass:
    """The cut on the model, then on each model in it."""

    def pass_(graph: Graph) -> Offers:
        for offer in _cuts(cut, graph):
            yield None if offer is None else trimmed(graph, offer)

    return pass_


def _cuts(cut: Cut, graph: Graph) -> Offers:
    yield from cut(graph)
    for number, layer in enumerate(graph.layers):
        if layer.graph is not None:
            for offer in _cuts(cut, layer.graph):
                yield None if offer is None else with_inner(graph, number, offer)


def specs_of(graph: Graph) -> tuple[Specs, ...]:
    """What each node gives; nothing where the graph is not well formed."""
    try:
        return infer(graph)
    except MalformedGraph:
        return ()


def first_calls(graph: Graph, specs: tuple[Specs, ...]) -> Iterator[tuple[int, Specs, Specs]]:
    """Each layer, with what its first call takes and gives."""
    met: set[int] = set()
    for place, call in enumerate(graph.calls if specs else ()):
        if call.layer not in met:
            met.add(call.layer)
            yield call.layer, fed(call, specs), specs[len(graph.inputs) + place]
