"""Passes that change a step of the state with what it is done to."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from clonediff.harness.search.reducing.passes.bases import Offers, everywhere
from clonediff.harness.search.reducing.passes.connections import drop_output, give_plainly
from clonediff.harness.search.reducing.passes.kinds import plainer_kind
from clonediff.strategies.compiling import by_output, nested_like
from clonediff.strategies.graph import Graph, MalformedGraph, Ref, Step, Value
from clonediff.strategies.targets import Target, layer_at, targets


def plainer_kind_with_its_step(graph: Graph) -> Offers:
    """A layer that a step is done to becomes one of a plainer kind, and it is done to that."""
    there = targets(graph) if any(step.kind for step in graph.state) else {}
    for offer in everywhere(plainer_kind)(graph) if there else ():
        if offer is None:
            continue
        try:
            state = tuple(_on_what_it_became(step, there, offer) for step in graph.state)
        except (MalformedGraph, LookupError):
            continue
        if state != graph.state:
            yield structs.replace(offer, state=state)


def drop_output_with_its_step(graph: Graph) -> Offers:
    """The model without one of its outputs, or with plainer ones, where a step has a value for each of them."""
    if isinstance(graph.gives, Ref) or not any(
        by_output(graph.gives, value) for step in graph.state for _, value in step.args
    ):
        return
    for offer in (*drop_output(graph), *give_plainly(graph)):
        if offer is not None:
            state = tuple(structs.replace(step, args=tuple(_fewer(step, graph, offer))) for step in graph.state)
            yield structs.replace(offer, state=state)


def _fewer(step: Step, graph: Graph, offer: Graph) -> Iterator[tuple[str, Value]]:
    for name, value in step.args:
        values = by_output(graph.gives, value)
        yield name, value if values is None else nested_like(offer.gives, iter(values), values[-1])


def _on_what_it_became(step: Step, there: dict[str, Target], graph: Graph) -> Step:
    target = None if step.kind is None else there[step.kind]
    if target is None or target.attributes:
        return step
    return structs.replace(step, kind=layer_at(graph, target.place).kind)
