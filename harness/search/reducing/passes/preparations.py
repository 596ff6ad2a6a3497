"""Passes that change a preparation together with the layer or the outputs that it is for."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from clonediff.harness.search.reducing.passes.bases import Offers, everywhere
from clonediff.harness.search.reducing.passes.connections import drop_output, give_plainly
from clonediff.harness.search.reducing.passes.kinds import plainer_kind
from clonediff.strategies.compiling import by_output, nested_like
from clonediff.strategies.graph import Graph, MalformedGraph, Preparation, Ref, Value
from clonediff.strategies.targets import Target, layer_at, targets


def plainer_kind_with_its_preparation(graph: Graph) -> Offers:
    """A layer that is prepared becomes one of a plainer kind, which is prepared instead."""
    there = targets(graph) if any(preparation.kind for preparation in graph.preparations) else {}
    for offer in everywhere(plainer_kind)(graph) if there else ():
        if offer is None:
            continue
        try:
            preparations = tuple(_on_what_it_became(preparation, there, offer) for preparation in graph.preparations)
        except (MalformedGraph, LookupError):
            continue
        if preparations != graph.preparations:
            yield structs.replace(offer, preparations=preparations)


def drop_output_with_its_preparation(graph: Graph) -> Offers:
    """The model without one of its outputs, or with plainer ones, where a preparation has a value for each of them."""
    if isinstance(graph.gives, Ref) or not any(
        by_output(graph.gives, value) for preparation in graph.preparations for _, value in preparation.args
    ):
        return
    for offer in (*drop_output(graph), *give_plainly(graph)):
        if offer is not None:
            preparations = tuple(
                structs.replace(preparation, args=tuple(_fewer(preparation, graph, offer)))
                for preparation in graph.preparations
            )
            yield structs.replace(offer, preparations=preparations)


def _fewer(preparation: Preparation, graph: Graph, offer: Graph) -> Iterator[tuple[str, Value]]:
    for name, value in preparation.args:
        values = by_output(graph.gives, value)
        yield name, value if values is None else nested_like(offer.gives, iter(values), values[-1])


def _on_what_it_became(preparation: Preparation, there: dict[str, Target], graph: Graph) -> Preparation:
    target = None if preparation.kind is None else there[preparation.kind]
    if target is None or target.attributes:
        return preparation
    return structs.replace(preparation, kind=layer_at(graph, target.place).kind)
