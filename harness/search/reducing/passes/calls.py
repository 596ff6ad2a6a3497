"""Passes on how models are given their tensors by calls, and how they take them."""

from __future__ import annotations

from msgspec import structs

from clonediff.harness.search.reducing.passes.connections import plain_ends
from clonediff.harness.search.reducing.passes.levels import Offers
from clonediff.harness.search.reducing.rewiring import edited, with_inner
from clonediff.strategies.graph import Graph, Items


def take_plainly_inside(graph: Graph) -> Offers:
    """A model in this one that takes its inputs in no dict, tuple or list of one; they need no names then.

    Or else they have those of their places; or it casts nothing.
    """
    for number, layer in enumerate(graph.layers):
        inner = layer.graph
        if inner is None:
            continue
        nameless = tuple(structs.replace(given, name=None) for given in inner.inputs)
        named = tuple(
            given if given.name is None else structs.replace(given, name=f"in_{place}")
            for place, given in enumerate(inner.inputs)
        )
        plainly = plain_ends(inner.takes)
        takes = inner.takes
        if isinstance(takes, Items):
            takes = Items(tuple((f"in_{place}", value) for place, (_, value) in enumerate(takes.items)))
        floats = tuple(
            structs.replace(given, dtype="float32") if "float" in given.dtype else given for given in inner.inputs
        )
        for inputs, ends in ((nameless, plainly), (inner.inputs, plainly), (named, takes), (floats, inner.takes)):
            if (inputs, ends) != (inner.inputs, inner.takes):
                less = edited(inner, takes=ends, inputs=inputs)
                yield None if less is None else with_inner(graph, number, less)
