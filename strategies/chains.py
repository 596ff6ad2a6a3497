"""Sequentials: what links in a chain, and which of them can be made without an input of their own."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from clonediff.strategies.graph import Built, Call, Function, Graph, Layer, Ref, call_refs, made_layers


def links(layer: Layer, call: Call, newest: Ref) -> bool:
    """Whether a call takes the newest tensor and gives one tensor, not a list of one."""
    function = layer.arg("function")
    return (
        list(call_refs(call)) == [newest]
        and call.outputs == 1
        and (not isinstance(function, Function) or function.container == "one")
    )


def can_be_built(graph: Graph, built: Built) -> bool:
    """Whether a Sequential can be without an input: the one that it gets then has the dtype of its first layer."""
    given, first = graph.inputs[0], graph.layers[graph.calls[0].layer] if graph.calls else None
    plain = given.name is None and given.around is None and not (given.optional or given.sparse or given.ragged)
    if first is None or not plain or first.dtype is not None or first.arg("autocast") is not None:
        return False
    if first.graph is not None and given.batch is not None:
        return False  # Keras 3 builds it for the model's batch at once, and not for another one later.
    if built == "by its first layer":
        return given.dtype == "float32" and given.batch is None and _tells_shape(graph, first)
    return given.dtype == ("int32" if first.kind == "Embedding" else "float32")


def _tells_shape(graph: Graph, first: Layer) -> bool:
    inner = first.graph
    if inner is None:
        return first.kind in _TAKE_SHAPES
    # Alone in a Sequential, a model does not build it (keras/src/models/sequential.py:150); nor does one with an input
    # beside its layers, in tf_keras (tf_keras/src/engine/sequential.py:200).
    plain = inner.base is None and inner.inputs[0].batch is None and inner.takes == Ref(0)
    return len(graph.calls) > 1 and plain and (not inner.sequential or inner.built == "by its first layer")


_TAKE_SHAPES = (
    *("Activation", "BatchNormalization", "Bidirectional", "Conv1D", "Conv2D", "Dense", "Dropout", "Flatten"),
    *("Lambda", "LSTM", "Masking", "Reshape", "TimeDistributed"),
)
"""Layers that are given an `input_shape` where they are the first one."""


def built_so(graph: Graph, built: Built, shaped: bool) -> Graph:
    """The Sequential without an input of its own, where it can be; `shaped` by a model, if that gives it its shape."""
    by_model = built == "by its first layer" and bool(graph.calls) and graph.layers[graph.calls[0].layer].graph
    return structs.replace(graph, built=built) if (shaped or not by_model) and can_be_built(graph, built) else graph


_BUILT: Mapping[int, Built] = {0: "by its first layer", 1: "not yet", 3: "later"}
_NAMED = 2


def begun(graph: Graph, ends: int, shaped: bool) -> Graph:
    """The Sequential with an input that has a name, or with none of its own, by a number."""
    if ends == _NAMED:
        return structs.replace(graph, inputs=(structs.replace(graph.inputs[0], name="start"),))
    return built_so(graph, _BUILT[ends], shaped) if ends in _BUILT else graph


def plainly_built(graph: Graph) -> Graph:
    """The model with an input of its own."""
    return structs.replace(graph, built="") if graph.built else graph


def plainly_built_within(graph: Graph) -> Graph:
    """The model in which each Sequential has an input of its own, too."""
    layers = tuple(
        layer if layer.graph is None else structs.replace(layer, graph=plainly_built(plainly_built_within(layer.graph)))
        for layer in graph.layers
    )
    return structs.replace(graph, layers=layers) if layers != graph.layers else graph


def builds_within(graph: Graph) -> bool:
    """Whether a Sequential in the model is built by what the model is called on."""
    inner = [layer.graph for layer in graph.layers if layer.graph is not None]
    wrapped = any(each.kind == "Sequential" for layer in graph.layers for each in made_layers(layer))
    return wrapped or any(each.built or builds_within(each) for each in inner)
