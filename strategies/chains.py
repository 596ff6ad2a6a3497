"""Sequentials: what links in a chain, and which of them can be made without an input of their own."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from strategies.graph import Built, Call, Function, Graph, Layer, Ref, call_refs


def links(layer: Layer, call: Call, newest: Ref) -> bool:
    """Whether a call takes the newest tensor and gives one tensor, not a list of one."""
    function = layer.arg("function")
    return (
        list(call_refs(call)) == [newest]
        and call.outputs == 1
        and (not isinstance(function, Function) or function.container == "one")
    )


def can_be_built_later(graph: Graph) -> bool:
    """Whether a Sequential can be without an input: the one that it gets then has the dtype of its first layer."""
    given, first = graph.inputs[0], graph.layers[graph.calls[0].layer] if graph.calls else None
    plain = given.name is None and given.around is None and not given.optional and not given.sparse
    if first is None or not plain or first.dtype is not None or first.arg("autocast") is not None:
        return False
    return given.dtype == ("int32" if first.kind == "Embedding" else "float32")


def built_late(graph: Graph, built: Built) -> Graph:
    """The Sequential without an input of its own, where it can be."""
    return structs.replace(graph, built=built) if can_be_built_later(graph) else graph


_BUILT: Mapping[int, Built] = {1: "not yet", 3: "later"}
_NAMED = 2


def begun(graph: Graph, ends: int) -> Graph:
    """The Sequential with an input that has a name, or with none, by a number from 0 that stands for a plain input."""
    if ends == _NAMED:
        return structs.replace(graph, inputs=(structs.replace(graph.inputs[0], name="start"),))
    return built_late(graph, _BUILT.get(ends, ""))


def plainly_built(graph: Graph) -> Graph:
    """The model with an input of its own."""
    return structs.replace(graph, built="") if graph.built else graph
