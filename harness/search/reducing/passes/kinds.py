"""Passes that put a layer of another kind in the place of one."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from clonediff.harness.search.reducing.drawn import arranged
from clonediff.harness.search.reducing.measure import PLAIN, WIDTHS, rank
from clonediff.harness.search.reducing.passes.bases import Offers, first_calls, specs_of
from clonediff.harness.search.reducing.records import with_field
from clonediff.harness.search.reducing.rewiring import on_tensors, swept, with_layer
from clonediff.strategies.graph import Graph, Input, Layer, MalformedGraph, Seq, fed_refs
from clonediff.strategies.kinds import CATALOGUE, LEFT_OUT, Kind, Specs


def plainer_kind(graph: Graph) -> Offers:
    """A layer of a simpler kind that gives the same shape, in the place of a model too."""
    for number, given, outputs in first_calls(graph, specs_of(graph)):
        for kind in _plainer_kinds(graph.layers[number]):
            if kind.takes[0] <= len(given) <= kind.takes[1]:
                for plainest in _plainest(kind, given, outputs, graph.layers[number]):
                    yield with_layer(graph, number, plainest)


def plainer_kind_on_one(graph: Graph) -> Offers:
    """A layer that takes one tensor in the place of one that takes several."""
    for number, given, outputs in first_calls(graph, specs_of(graph)):
        for kind in _plainer_kinds(graph.layers[number]) if len(given) > 1 else ():
            for place in range(len(given) if kind.takes == (1, 1) else 0):
                for plainest in _plainest(kind, given[place : place + 1], outputs, graph.layers[number]):
                    yield _on_one(graph, number, place, plainest)


def _plainer_kinds(layer: Layer) -> Iterator[Kind]:
    for name in PLAIN:
        if name in CATALOGUE and (layer.graph is not None or rank(name) < rank(layer.kind)):
            yield CATALOGUE[name]


def use_plain_inputs(graph: Graph) -> Offers:
    """Inputs of a few numbers in the place of ids, words and volumes, and plain layers where those were used."""
    special = {place for place, given in enumerate(graph.inputs) if _is_special(given)}
    if not special:
        return
    inputs = tuple(
        Input(each.shape[-MOST_RANKS:], name=each.name) if place in special else each
        for place, each in enumerate(graph.inputs)
    )
    layers, calls = list(graph.layers), list(graph.calls)
    for number, call in enumerate(graph.calls):
        layer, fed = graph.layers[call.layer], list(fed_refs(call))
        if layer.graph is None and special.intersection(ref.node for ref in fed):
            plain = Layer(PLAIN[0], (("activation", "relu"),)) if len(fed) == 1 else Layer("Add")
            layers[call.layer] = _like(plain, layer)
            args = (Seq(tuple(fed)),) if len(fed) > 1 else tuple(fed)
            calls[number] = structs.replace(call, args=args, kwargs=())
    yield with_field(graph, inputs=inputs, layers=tuple(layers), calls=tuple(calls))


MOST_RANKS = 3
"""The plain kinds take no more dimensions."""


def _is_special(given: Input) -> bool:
    return given.dtype in ("int32", "string", "bool") or len(given.shape) > MOST_RANKS


def _on_one(graph: Graph, number: int, place: int, layer: Layer) -> Graph | None:
    new = with_layer(graph, number, layer)
    calls = tuple(
        on_tensors(call, [list(fed_refs(call))[place]]) if call.layer == number else call for call in graph.calls
    )
    new = None if new is None else with_field(new, calls=calls)
    return None if new is None else swept(graph, new)


def _plainest(kind: Kind, given: Specs, outputs: Specs, layer: Layer) -> Iterator[Layer]:
    """A layer of that kind like another, with no arguments but the needed ones; none where it cannot be arranged."""
    wide = outputs[0].shape[-1] if outputs[0].shape else None
    needed = {key: values[0] for key, values in kind.options.items() if LEFT_OUT not in values}
    needed |= {key: wide for key in kind.options if key in WIDTHS and wide is not None}
    if kind.family == "recurrent" and outputs[0].rank > 1:
        needed["return_sequences"] = True
    plainest = Layer(kind.name, tuple(needed.items()))
    if kind.arrange is not None:
        chosen = {key: values[0] for key, values in kind.options.items()}
        if kind.name == "Lambda":
            chosen |= {"gives": Seq(("x",) * len(outputs)), "container": "one" if len(outputs) == 1 else "list"}
        try:
            plainest = arranged(plainest, kind, given, chosen)
        except MalformedGraph:
            return
    yield _like(plainest, layer)


def _like(plainest: Layer, layer: Layer) -> Layer:
    """With what is said of the layer beside its own arguments; a name stays one, though it may name the kind."""
    regularizer = [pair for pair in layer.args if pair[0] == "activity_regularizer"]
    return structs.replace(
        plainest,
        args=(*plainest.args, *regularizer),
        name=None if layer.name is None else f"my_{plainest.kind.lower()}",
        trainable=layer.trainable,
        dtype=layer.dtype,
        marks=tuple(mark for mark in layer.marks if mark != "supports_masking"),
    )
