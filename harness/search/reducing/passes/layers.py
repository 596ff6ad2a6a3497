"""Passes on layers: their kind, their arguments, how often they are used; and on the arguments of calls."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msgspec import structs

from clonediff.harness.search.reducing.drawn import arranged, choices
from clonediff.harness.search.reducing.measure import CONTAINERS, WIDTHS, same
from clonediff.harness.search.reducing.passes.levels import Offers, first_calls, specs_of
from clonediff.harness.search.reducing.rewiring import edited, with_call, with_layer, without_output
from clonediff.strategies.graph import Graph, Layer, Made, MalformedGraph, Seq, Value
from clonediff.strategies.kinds import CATALOGUE, LEFT_OUT, Kind, Specs
from clonediff.strategies.kinds.lambdas import EXPRESSIONS


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


def unwrap(graph: Graph) -> Offers:
    """The layer within a layer, in its place."""
    for number, layer in enumerate(graph.layers):
        for _, value in layer.args:
            if isinstance(value, Made) and value.layer.kind in CATALOGUE:
                yield with_layer(graph, number, value.layer)


def simplify_layer(graph: Graph) -> Offers:
    """A layer without one of its arguments, or with a simpler value for it."""
    kinds, specs = CATALOGUE, specs_of(graph)
    for number, given, _ in first_calls(graph, specs):
        layer = graph.layers[number]
        kind = kinds.get(layer.kind)
        if kind is not None and layer.kind == "Lambda":
            yield from _lambda_of_fewer(graph, number, kind, given)
        if kind is None or kind.arrange is None:
            for simpler in simpler_layers(layer, kinds):
                yield with_layer(graph, number, simpler)
            continue
        for simpler in _less_said(layer, kind, kinds):
            yield with_layer(graph, number, simpler)
        for chosen in _simpler_choices(choices(layer, kind, given), kind):
            try:
                simpler = arranged(layer, kind, given, chosen)
            except MalformedGraph:
                continue
            yield with_layer(graph, number, simpler)


def simpler_layers(layer: Layer, kinds: Mapping[str, Kind]) -> Iterator[Layer]:
    """The layer with fewer arguments, or simpler ones: all left out that can be, then one by one."""
    kind = kinds.get(layer.kind)
    options = {} if kind is None else {**kind.more, **kind.options}
    unsaid = [key for key, _ in layer.args if kind is None or _can_be_unsaid(key, kind)]
    yield from _with_less(layer, unsaid, options, kinds)


def _can_be_unsaid(key: str, kind: Kind) -> bool:
    return key in kind.more or LEFT_OUT in kind.options.get(key, (LEFT_OUT,))


def _less_said(layer: Layer, kind: Kind, kinds: Mapping[str, Kind]) -> Iterator[Layer]:
    """A layer that was arranged, with fewer further arguments, or simpler ones."""
    unsaid = [key for key, _ in layer.args if key in kind.more]
    for simpler in _with_less(layer, unsaid, kind.more, kinds):
        if {key for key, value in layer.args if (key, value) not in simpler.args} <= set(unsaid):
            yield simpler


def _with_less(
    layer: Layer, unsaid: Collection[str], options: Mapping[str, tuple[Value, ...]], kinds: Mapping[str, Kind]
) -> Iterator[Layer]:
    if len(unsaid) > 1:
        yield structs.replace(layer, args=tuple(pair for pair in layer.args if pair[0] not in unsaid))
    for place, (key, value) in enumerate(layer.args):
        before, after = layer.args[:place], layer.args[place + 1 :]
        if key in unsaid:
            yield structs.replace(layer, args=(*before, *after))
        for simpler in _simpler_values(value, options.get(key, ()), kinds):
            if key not in WIDTHS:
                yield structs.replace(layer, args=(*before, (key, simpler), *after))


def _simpler_values(value: Value, options: tuple[Value, ...], kinds: Mapping[str, Kind]) -> Iterator[Value]:
    told = [option for option in options if option != LEFT_OUT]
    place = next((at for at, option in enumerate(told) if same(option, value)), len(told))
    yield from told[:place]
    match value:
        case Made():
            for simpler in simpler_layers(value.layer, kinds):
                yield Made(simpler)
        case Seq(items=items) if any(isinstance(item, Made) for item in items):
            yield from items
            for at in range(len(items) if len(items) > 2 else 0):
                yield Seq((*items[:at], *items[at + 1 :]), value.form)


def _simpler_choices(chosen: Mapping[str, Value], kind: Kind) -> Iterator[dict[str, Value]]:
    """The options behind an arranged layer with one of them simpler."""
    for key, values in kind.options.items():
        if key == "gives":
            continue
        gives = chosen.get("gives")
        alone = key == "container" and isinstance(gives, Seq) and len(gives.items) == 1
        order: list[Value] = [CONTAINERS[0], *values] if alone else list(values)
        order = sorted(dict.fromkeys(order), key=lambda value: value != LEFT_OUT)
        place = next((at for at, value in enumerate(order) if same(value, chosen.get(key, LEFT_OUT))), len(order))
        for value in order[:place]:
            yield {**chosen, key: value}
    gives = chosen.get("gives")
    if isinstance(gives, Seq):
        for place, text in enumerate(gives.items):
            for simpler in ("x", "x * 2.0") if text in EXPRESSIONS else ():
                yield {**chosen, "gives": Seq((*gives.items[:place], simpler, *gives.items[place + 1 :]))}


def _lambda_of_fewer(graph: Graph, number: int, kind: Kind, given: Specs) -> Offers:
    """A `Lambda` that gives one tensor fewer; another one serves in its stead."""
    layer = graph.layers[number]
    chosen = choices(layer, kind, given)
    gives = chosen["gives"]
    assert isinstance(gives, Seq)
    for output in range(len(gives.items) if len(gives.items) > 1 else 0):
        fewer = Seq((*gives.items[:output], *gives.items[output + 1 :]))
        try:
            simpler = arranged(layer, kind, given, {**chosen, "gives": fewer})
        except MalformedGraph:
            continue
        new = without_output(graph, number, output)
        yield None if new is None else with_layer(new, number, simpler)


def simplify_call(graph: Graph) -> Offers:
    """A call without one of its further arguments, or with a simpler value for it."""
    kinds = CATALOGUE
    for number, call in enumerate(graph.calls):
        kind = kinds.get(graph.layers[call.layer].kind)
        options = {} if kind is None else kind.call_options
        for place, (key, value) in enumerate(call.kwargs):
            before, after = call.kwargs[:place], call.kwargs[place + 1 :]
            yield with_call(graph, number, structs.replace(call, kwargs=(*before, *after)))
            for simpler in _simpler_values(value, options.get(key, ()), kinds):
                yield with_call(graph, number, structs.replace(call, kwargs=(*before, (key, simpler), *after)))
