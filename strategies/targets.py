"""Which layers of a model something can be done to, and where they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from clonediff.strategies.graph import Graph, Layer, Made
from clonediff.strategies.kinds.operations import is_operation


def level_of(graph: Graph, place: tuple[int, ...]) -> Graph:
    """The model in which the layer at a place stands."""
    for number in place[:-1]:
        inner = graph.layers[number].graph
        if inner is None:
            raise LookupError(f"the layer {number} is no model")
        graph = inner
    return graph


def layer_at(graph: Graph, place: tuple[int, ...]) -> Layer:
    """The layer at a place."""
    return level_of(graph, place).layers[place[-1]]


class Target(NamedTuple):
    """A layer that is prepared: the numbers of the layers that lead to it, and the attributes from there."""

    layer: Layer
    place: tuple[int, ...]
    attributes: tuple[str, ...] = ()


def targets(graph: Graph) -> dict[str, Target]:
    """The first layer of each kind that a model calls, in models inside it and in wrappers too."""
    found: dict[str, Target] = {}
    for target in every_layer(graph, ()):
        found.setdefault(target.layer.kind, target)
    return found


def every_layer(graph: Graph, place: tuple[int, ...] = ()) -> Iterator[Target]:
    """Each layer that a model calls."""
    for number in dict.fromkeys(call.layer for call in graph.calls):
        layer = graph.layers[number]
        if layer.graph is None and is_no_layer(layer):
            continue
        yield Target(layer, (*place, number))
        held, attribute = _HELD.get(layer.kind, ("", ""))
        inner = layer.arg(held)
        if isinstance(inner, Made):
            yield Target(inner.layer, (*place, number), (attribute,))
        if layer.graph is not None:
            yield from every_layer(layer.graph, (*place, number))


def is_no_layer(layer: Layer) -> bool:
    """Whether it is an operation, of which nobody asks what a layer is asked."""
    return is_operation(layer.kind)


_HELD: Mapping[str, tuple[str, str]] = {
    "TimeDistributed": ("layer", "layer"),
    "Bidirectional": ("layer", "forward_layer"),
    "RNN": ("cell", "cell"),
}
"""The argument of a wrapper that a layer is given as, and the attribute under which it is found then."""
