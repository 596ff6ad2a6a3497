"""Passes on sizes: dimensions of inputs, widths of layers, the batch. What follows from them is fitting's to find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

from msgspec import structs

from clonediff.harness.search.reducing.measure import WIDTHS
from clonediff.harness.search.reducing.passes.levels import Offers
from clonediff.harness.search.reducing.rewiring import edited
from clonediff.strategies.graph import Graph, Input, Layer, Made, Seq, Value
from clonediff.strategies.kinds.lambdas import BATCH

Change = Callable[[int], int]


def shrink_every_dimension(graph: Graph) -> Offers:
    """All dimensions and widths of one size made another, then down to one."""
    for size in sorted({*_sizes(graph)}, reverse=True):
        for smaller in _smaller(size):
            yield _resized(graph, _made(size, smaller))


def shrink_dimension(graph: Graph) -> Offers:
    """One dimension or width."""
    for place, size in enumerate(_sizes(graph)):
        for smaller in _smaller(size):
            yield _resized(graph, _made_once(place, smaller))


def _made(size: int, smaller: int) -> Change:
    return lambda each: smaller if each == size else each


def _made_once(place: int, smaller: int) -> Change:
    numbers = count()
    return lambda each: smaller if next(numbers) == place else each


def drop_rank(graph: Graph) -> Offers:
    """Inputs without their first dimension, or their last: all of them, then each alone."""
    for part in (slice(1, None), slice(-1)):
        if len(graph.inputs) > 1:
            yield edited(graph, inputs=tuple(_flatter(each, part) for each in graph.inputs))
        for place, given in enumerate(graph.inputs):
            yield edited(graph, inputs=(*graph.inputs[:place], _flatter(given, part), *graph.inputs[place + 1 :]))


def shrink_batch(graph: Graph) -> Offers:
    """As many rows as any graph has."""
    if graph.batch > BATCH:
        batched = tuple(each if each.batch is None else structs.replace(each, batch=BATCH) for each in graph.inputs)
        yield edited(graph, batch=BATCH, inputs=batched)


def _flatter(given: Input, part: slice) -> Input:
    return structs.replace(given, shape=given.shape[part]) if len(given.shape) > 1 else given


def _smaller(size: int) -> Iterator[int]:
    yield from sorted({1, 2, size - 1} & set(range(1, size)))


def _sizes(graph: Graph) -> list[int]:
    """The dimensions of the inputs, and the widths of layers at every level."""
    found: list[int] = []

    def note(size: int) -> int:
        found.append(size)
        return size

    _resized(graph, note)
    return found


def _resized(graph: Graph, change: Change) -> Graph | None:
    inputs = tuple(
        structs.replace(each, shape=tuple(None if length is None else change(length) for length in each.shape))
        for each in graph.inputs
    )
    return edited(graph, inputs=inputs, layers=tuple(_resized_layer(layer, change) for layer in graph.layers))


def _resized_layer(layer: Layer, change: Change) -> Layer:
    args = tuple((key, _resized_value(key, value, change)) for key, value in layer.args)
    graph = layer.graph
    if graph is not None:
        graph = structs.replace(graph, layers=tuple(_resized_layer(each, change) for each in graph.layers))
    return structs.replace(layer, args=args, graph=graph)


def _resized_value(key: str, value: Value, change: Change) -> Value:
    match value:
        case Made():
            return Made(_resized_layer(value.layer, change))
        case Seq() if any(isinstance(item, Made) for item in value.items):
            return Seq(tuple(_resized_value(key, item, change) for item in value.items), value.form)
        case int() if key in WIDTHS and not isinstance(value, bool):
            return change(value)
    return value
