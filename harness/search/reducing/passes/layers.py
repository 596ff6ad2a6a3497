"""Passes on how often a layer is used, and on how much it gives."""

from __future__ import annotations

from msgspec import structs

from clonediff.harness.search.reducing.passes.levels import Offers
from clonediff.harness.search.reducing.rewiring import edited, with_layer, without_output
from clonediff.strategies.graph import Function, Graph, Seq, Value


def unshare(graph: Graph) -> Offers:
    """A layer of its own for every call of one that is shared; then for one of its calls."""
    uses = [call.layer for call in graph.calls]
    for number in range(len(graph.layers)):
        calls = [place for place, layer in enumerate(uses) if layer == number]
        if len(calls) > 2:
            yield _apart(graph, number, calls[1:])
        for place in calls[1:]:
            yield _apart(graph, number, [place])


def _apart(graph: Graph, number: int, calls: list[int]) -> Graph | None:
    copy = structs.replace(graph.layers[number], name=None)
    layer = {place: len(graph.layers) + at for at, place in enumerate(calls)}
    return edited(
        graph,
        layers=(*graph.layers, *(copy for _ in calls)),
        calls=tuple(
            structs.replace(call, layer=layer.get(place, call.layer)) for place, call in enumerate(graph.calls)
        ),
    )


def give_fewer_tensors(graph: Graph) -> Offers:
    """A `Lambda` that gives one tensor fewer; another one serves in its stead."""
    for number, layer in enumerate(graph.layers):
        function = layer.arg("function")
        if layer.kind != "Lambda" or not isinstance(function, Function):
            continue
        count = len(function.gives)
        for output in range(count if count > 1 else 0):
            args = tuple((key, _without(value, output, count)) for key, value in layer.args)
            new = without_output(graph, number, output)
            yield None if new is None else with_layer(new, number, structs.replace(layer, args=args))


def _without(value: Value, output: int, count: int) -> Value:
    """An argument without what it has for an output; as it is where it has not something for each."""
    match value:
        case Function(gives=texts) if len(texts) == count:
            return structs.replace(value, gives=(*texts[:output], *texts[output + 1 :]))
        case Seq(items=items) if len(items) == count:
            return structs.replace(value, items=(*items[:output], *items[output + 1 :]))
    return value
