"""Plainer ways to clone: without an argument, or with a function that does less."""

from __future__ import annotations

from msgspec import structs

from clonediff.harness.search.reducing.passes.levels import Offers
from clonediff.strategies.graph import CallFunction, CloneFunction, Graph, Way


def clone_plainly(graph: Graph) -> Offers:
    """The way without one of its arguments, or none at all."""
    way = graph.way
    if way is None:
        return
    yield structs.replace(graph, way=None)
    for fewer in ({"inputs": ""}, {"clone_function": None}, {"call_function": None}, {"recursive": False}):
        yield _with(graph, structs.replace(way, **fewer))


def do_less(graph: Graph) -> Offers:
    """Functions that do something simpler, to layers of another kind, or nothing to the others; simpler inputs."""
    way = graph.way
    if way is None:
        return
    if way.inputs:
        yield _with(graph, structs.replace(way, inputs="fresh"))
    clone, call = way.clone_function, way.call_function
    if clone is not None:
        yield _with(graph, structs.replace(way, clone_function=CloneFunction()))
        yield _with(graph, structs.replace(way, clone_function=CloneFunction("kept")))
        if clone.kind is not None:
            yield _with(graph, structs.replace(way, clone_function=structs.replace(clone, others="kept")))
            for kind in sorted({layer.kind for layer in graph.layers}):
                yield _with(graph, structs.replace(way, clone_function=structs.replace(clone, kind=kind)))
    if call is not None:
        yield _with(graph, structs.replace(way, call_function=CallFunction()))


def _with(graph: Graph, way: Way) -> Graph | None:
    return None if way == Way() else structs.replace(graph, way=way)
