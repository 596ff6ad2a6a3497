"""Passes that put a layer of another kind in the place of one."""

from __future__ import annotations

from msgspec import structs

from clonediff.harness.search.reducing.drawn import arranged
from clonediff.harness.search.reducing.measure import PLAIN, WIDTHS, rank
from clonediff.harness.search.reducing.passes.levels import Offers, first_calls, specs_of
from clonediff.harness.search.reducing.rewiring import edited, on_tensors, swept, with_layer
from clonediff.strategies.graph import Graph, Input, Layer, MalformedGraph, Seq, Value, fed_refs
from clonediff.strategies.kinds import CATALOGUE, LEFT_OUT, Kind, Specs


def plainer_kind(graph: Graph) -> Offers:
    """A layer of a simpler kind that gives the same shape, in the place of a model too."""
    kinds, specs = CATALOGUE, specs_of(graph)
    for number, given, outputs in first_calls(graph, specs, models=True):
        layer = graph.layers[number]
        for name in PLAIN:
            kind = kinds.get(name)
            if kind is not None and _plainer(name, layer) and kind.takes[0] <= len(given) <= kind.takes[1]:
                plainest = _plainest(kind, given, outputs)
                if plainest is not None:
                    yield with_layer(graph, number, _like(plainest, layer, kind))


def plainer_kind_on_one(graph: Graph) -> Offers:
    """A layer that takes one tensor in the place of one that takes several."""
    kinds, specs = CATALOGUE, specs_of(graph)
    for number, given, outputs in first_calls(graph, specs, models=True):
        layer = graph.layers[number]
        for name in PLAIN if len(given) > 1 else ():
            kind = kinds.get(name)
            if kind is None or kind.takes != (1, 1) or not _plainer(name, layer):
                continue
            for place in range(len(given)):
                plainest = _plainest(kind, given[place : place + 1], outputs)
                if plainest is not None:
                    yield _on_one(graph, number, place, _like(plainest, layer, kind))


def use_plain_inputs(graph: Graph) -> Offers:
    """Inputs of a few numbers in the place of ids, words and volumes, and plain layers where those were used."""
    special = {place for place, given in enumerate(graph.inputs) if _is_special(given)}
    if not special:
        return
    inputs = tuple(
        Input(each.shape[-MOST_RANKS:], name=each.name, batch=each.batch) if place in special else each
        for place, each in enumerate(graph.inputs)
    )
    layers, calls = list(graph.layers), list(graph.calls)
    for number, call in enumerate(graph.calls):
        layer, fed = graph.layers[call.layer], list(fed_refs(call))
        if layer.graph is None and special.intersection(ref.node for ref in fed):
            plain = Layer(PLAIN[0], (("activation", "relu"),)) if len(fed) == 1 else Layer("Add")
            layers[call.layer] = _like(plain, layer, CATALOGUE[plain.kind])
            args = (Seq(tuple(fed)),) if len(fed) > 1 else tuple(fed)
            calls[number] = structs.replace(call, args=args, kwargs=())
    yield edited(graph, inputs=inputs, layers=tuple(layers), calls=tuple(calls))


MOST_RANKS = 3
"""The plain kinds take no more dimensions."""


def _is_special(given: Input) -> bool:
    return given.dtype in ("int32", "string", "bool") or len(given.shape) > MOST_RANKS


def _plainer(name: str, layer: Layer) -> bool:
    return layer.graph is not None or rank(name) < rank(layer.kind)


def _on_one(graph: Graph, number: int, place: int, layer: Layer) -> Graph | None:
    new = with_layer(graph, number, layer)
    calls = tuple(
        on_tensors(call, [list(fed_refs(call))[place]]) if call.layer == number else call for call in graph.calls
    )
    new = None if new is None else edited(new, calls=calls)
    return None if new is None else swept(graph, new)


def _plainest(kind: Kind, given: Specs, outputs: Specs) -> Layer | None:
    """A layer of that kind with no argument but the needed ones, as wide as what it stands for."""
    wide = outputs[0].shape[-1] if outputs[0].shape else None
    args: dict[str, Value] = {}
    for key, values in kind.options.items():
        if key in WIDTHS and wide is not None:
            args[key] = wide
        elif LEFT_OUT not in values:
            args[key] = values[0]
    if kind.family == "recurrent" and outputs[0].rank > 1:
        args["return_sequences"] = True
    layer = Layer(kind.name, tuple(args.items()))
    if kind.arrange is None:
        return layer
    chosen = {key: values[0] for key, values in kind.options.items()}
    if kind.name == "Lambda":
        chosen |= {"gives": Seq(("x",) * len(outputs)), "container": "one" if len(outputs) == 1 else "list"}
    try:
        return arranged(layer, kind, given, chosen)
    except MalformedGraph:
        return None


def _like(plainest: Layer, layer: Layer, kind: Kind) -> Layer:
    """With what is said of the layer beside its own arguments; a name stays one, though it may name the kind."""
    regularizer = [pair for pair in layer.args if pair[0] == "activity_regularizer"]
    return structs.replace(
        plainest,
        args=(*plainest.args, *regularizer),
        name=None if layer.name is None else f"my_{kind.name.lower()}",
        trainable=layer.trainable,
        dtype=layer.dtype,
        marks=tuple(mark for mark in layer.marks if mark != "supports_masking"),
    )
