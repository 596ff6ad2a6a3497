"""Passes on models in models."""

from __future__ import annotations

from msgspec import structs

from clonediff.harness.search.reducing.passes.bases import Offers
from clonediff.harness.search.reducing.records import with_field
from clonediff.harness.search.reducing.rewiring import swept, with_inner, without_leaf, without_output
from clonediff.strategies.graph import Call, Graph, Layer, Ref, fed_refs, refs
from clonediff.strategies.pruning import moved, moved_call


def inline_model(graph: Graph) -> Offers:
    """The calls of an inner model in the place of its own."""
    for number, layer in enumerate(graph.layers):
        if layer.graph is not None and list(refs(layer.graph.takes)) == _inputs(layer.graph):
            yield _inlined(graph, number, layer.graph)


def take_model_out(graph: Graph) -> Offers:
    """An inner model of a custom class in the place of the whole."""
    if graph.clone_arguments is None and not graph.preparations:
        for layer in graph.layers:
            if layer.graph is not None and layer.graph.custom_class is not None:
                yield with_field(layer.graph, generation=graph.generation, batch=graph.batch)


def _inputs(graph: Graph) -> list[Ref]:
    return [Ref(place) for place in range(len(graph.inputs))]


def _inlined(graph: Graph, number: int, inner: Graph) -> Graph | None:
    first = len(graph.inputs)
    offset = len(graph.layers)
    named = {each.name for each in graph.inputs} | {each.name for each in graph.layers}
    layers = [*graph.layers, *(_free(layer, named) for layer in inner.layers)]
    calls: list[Call] = []
    at: dict[Ref, Ref] = {ref: ref for ref in _inputs(graph)}

    def give(call: Call, node: int, where: dict[Ref, Ref]) -> None:
        calls.append(call)
        for output in range(call.outputs):
            where[Ref(node, output)] = Ref(first + len(calls) - 1, output)

    for place, call in enumerate(graph.calls):
        if call.layer != number:
            give(moved_call(call, at.__getitem__), first + place, at)
            continue
        fed = [at[ref] for ref in fed_refs(call)]
        if len(fed) != len(inner.inputs):
            return None
        inside = dict(zip(_inputs(inner), fed, strict=True))
        for step, each in enumerate(inner.calls):
            moved_in = moved_call(each, inside.__getitem__, layer=offset + each.layer)
            give(moved_in, len(inner.inputs) + step, inside)
        for output, ref in enumerate(refs(inner.gives)):
            at[Ref(first + place, output)] = inside[ref]
    new = with_field(
        graph,
        layers=tuple(layers),
        calls=tuple(calls),
        sequential=graph.sequential and inner.sequential,
        gives=moved(graph.gives, at.__getitem__),
    )
    return None if new is None else _in_order(swept(new, new))


def _free(layer: Layer, taken: set[str | None]) -> Layer:
    """The layer without its name, where that is taken."""
    return structs.replace(layer, name=None) if layer.name in taken else layer


def _in_order(graph: Graph) -> Graph:
    """The layers in the order in which they are called first."""
    order = list(dict.fromkeys(call.layer for call in graph.calls))
    place = {old: new for new, old in enumerate(order)}
    calls = tuple(structs.replace(call, layer=place[call.layer]) for call in graph.calls)
    return structs.replace(graph, layers=tuple(graph.layers[old] for old in order), calls=calls)


def drop_inner_output(graph: Graph) -> Offers:
    """An inner model without one of its outputs; another one serves in its stead."""
    for number, layer in enumerate(graph.layers):
        inner = layer.graph
        given = [] if inner is None else list(refs(inner.gives))
        for output in range(len(given) if len(given) > 1 else 0):
            assert inner is not None
            less = with_field(inner, gives=without_leaf(inner.gives, output))
            new = without_output(graph, number, output)
            yield None if new is None or less is None else with_inner(new, number, swept(inner, less))
