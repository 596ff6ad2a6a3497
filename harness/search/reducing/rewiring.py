"""Other connections in a graph: tensors taken from elsewhere, calls, layers and inputs left out.

Owns how nodes are renumbered. Knows no catalogue: whether the result makes sense is for `fitting`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from msgspec import structs

from strategies.graph import Call, Graph, Items, Layer, MalformedGraph, Ref, Seq, Value, call_refs, refs

Move = Callable[[Ref], Ref]


def moved(value: Value, move: Move) -> Value:
    """The value with each tensor replaced."""
    match value:
        case Ref():
            return move(value)
        case Seq():
            return Seq(tuple(moved(item, move) for item in value.items), value.form)
        case Items():
            return Items(tuple((key, moved(item, move)) for key, item in value.items))
    return value


def moved_call(call: Call, move: Move, **changes: Any) -> Call:
    """The call on other tensors."""
    args = tuple(moved(value, move) for value in call.args)
    kwargs = tuple((key, moved(value, move)) for key, value in call.kwargs)
    return structs.replace(call, args=args, kwargs=kwargs, **changes)


def edited(graph: Graph, **changes: Any) -> Graph | None:
    """The graph with some fields replaced, None where its numbers then name nothing."""
    try:
        return structs.replace(graph, **changes)
    except MalformedGraph:
        return None


def rewired(graph: Graph, move: Move) -> Graph | None:
    """Every use of a tensor, outputs of the model among them, taken from elsewhere; what nothing needs now is gone."""
    calls = tuple(moved_call(call, move) for call in graph.calls)
    new = edited(graph, calls=calls, gives=moved(graph.gives, move))
    return None if new is None else swept(graph, new)


def with_layer(graph: Graph, number: int, layer: Layer) -> Graph | None:
    """Another layer in the place of one."""
    layers = (*graph.layers[:number], layer, *graph.layers[number + 1 :])
    return edited(graph, layers=layers)


def with_call(graph: Graph, number: int, call: Call) -> Graph | None:
    """Another call in the place of one; what nothing needs now is gone."""
    new = edited(graph, calls=(*graph.calls[:number], call, *graph.calls[number + 1 :]))
    return None if new is None else swept(graph, new)


def idle(graph: Graph) -> set[int]:
    """The nodes that no call and no output of the model uses."""
    used = {ref.node for ref in refs(graph.gives)} | {ref.node for call in graph.calls for ref in call_refs(call)}
    return set(range(len(graph.inputs) + len(graph.calls))) - used


def swept(old: Graph, new: Graph, *, drop: Collection[int] = ()) -> Graph:
    """`new` without the calls that it needs no longer, and without layers that nothing calls.

    Both number their nodes alike. A call that led nowhere in `old` stays, but for those in `drop`: it may be the one
    that matters.
    """
    first = len(new.inputs)
    stays = idle(old) - set(drop)
    kept = list(range(first, first + len(new.calls)))
    while True:
        used = {ref.node for ref in refs(new.gives)}
        used |= {ref.node for node in kept for ref in call_refs(new.calls[node - first])}
        left = [node for node in kept if node in used or node in stays]
        if left == kept:
            break
        kept = left
    return _compressed(new, range(first), kept)


def without_inputs(graph: Graph, gone: Collection[int]) -> Graph:
    """The graph without inputs that nothing uses. One stays."""
    kept = [place for place in range(len(graph.inputs)) if place not in gone] or [0]
    first = len(graph.inputs)
    return _compressed(graph, kept, range(first, first + len(graph.calls)))


def without_calls(graph: Graph, gone: Collection[int]) -> Graph:
    """The graph without some calls that nothing uses, by their nodes. All else stays."""
    first = len(graph.inputs)
    return _compressed(
        graph, range(first), [node for node in range(first, first + len(graph.calls)) if node not in gone]
    )


def newly_idle(old: Graph, new: Graph) -> list[int]:
    """The inputs that nothing uses in `new`, though `old` used them."""
    before, after = idle(old), idle(new)
    return [place for place in range(len(new.inputs)) if place in after and place not in before]


def trimmed(old: Graph, new: Graph) -> Graph:
    """`new` without the inputs that it needs no longer."""
    gone = newly_idle(old, new)
    return without_inputs(new, gone) if gone else new


def with_inner(graph: Graph, number: int, inner: Graph, gone: Collection[int] | None = None) -> Graph | None:
    """Another graph for the model that is layer `number`. Inputs that it needs no longer, or `gone`, are not fed."""
    layer = graph.layers[number]
    assert layer.graph is not None
    gone = newly_idle(layer.graph, inner) if gone is None else gone
    inner = without_inputs(inner, gone) if gone else inner
    new = with_layer(graph, number, structs.replace(layer, graph=inner))
    if not gone or new is None:
        return new
    calls = tuple(_fed_less(call, gone) if call.layer == number else call for call in graph.calls)
    new = edited(new, calls=calls)
    return None if new is None else swept(graph, new)


def _fed_less(call: Call, gone: Collection[int]) -> Call:
    fed = [ref for value in call.args for ref in refs(value)]
    return on_tensors(call, [ref for place, ref in enumerate(fed) if place not in gone] or fed[:1])


def on_tensors(call: Call, tensors: Iterable[Ref]) -> Call:
    """The call on these tensors: several in a list, one alone. Where a layer wants it otherwise, fitting sees to it."""
    fed = tuple(tensors)
    return structs.replace(call, args=(Seq(fed),) if len(fed) > 1 else fed)


def without_output(graph: Graph, number: int, output: int) -> Graph | None:
    """No use of the output `output` of layer `number`: another one of its outputs serves in its stead.

    The layer itself is as before, so that its last output is one that nothing uses.
    """
    first = len(graph.inputs)
    nodes = {first + place for place, call in enumerate(graph.calls) if call.layer == number}

    def move(ref: Ref) -> Ref:
        if ref.node not in nodes or ref.output < output or ref.output == 0:
            return ref
        return Ref(ref.node, ref.output - 1)

    return rewired(graph, move)


def _compressed(graph: Graph, inputs: Iterable[int], nodes: Iterable[int]) -> Graph:
    """Only these inputs and calls, by their nodes, and only layers that are called."""
    first = len(graph.inputs)
    inputs, numbers = list(inputs), [node - first for node in nodes]
    used = {graph.calls[number].layer for number in numbers}
    layers = [number for number in range(len(graph.layers)) if number in used]
    if len(inputs) == first and len(numbers) == len(graph.calls) and len(layers) == len(graph.layers):
        return graph
    node = {old: new for new, old in enumerate((*inputs, *(first + number for number in numbers)))}
    layer = {old: new for new, old in enumerate(layers)}

    def move(ref: Ref) -> Ref:
        return Ref(node[ref.node], ref.output)

    return structs.replace(
        graph,
        inputs=tuple(graph.inputs[place] for place in inputs),
        layers=tuple(graph.layers[number] for number in layers),
        calls=tuple(
            moved_call(graph.calls[number], move, layer=layer[graph.calls[number].layer]) for number in numbers
        ),
        takes=moved(kept(graph.takes, lambda ref: ref.node in node), move),
        gives=moved(graph.gives, move),
    )


def without_leaf(value: Value, place: int) -> Value:
    """The nesting of tensors without the one at that place, counted from the left."""
    tensors = list(refs(value))
    numbers = iter(range(len(tensors)))
    numbered = moved(value, lambda _: Ref(next(numbers)))
    return moved(kept(numbered, lambda ref: ref.node != place), lambda ref: tensors[ref.node])


def kept(value: Value, wanted: Callable[[Ref], bool]) -> Value:
    """The nesting of tensors with only those that are wanted; one left alone needs no list around it."""
    match value:
        case Seq():
            items = tuple(kept(item, wanted) for item in value.items if any(wanted(ref) for ref in refs(item)))
            return items[0] if len(items) == 1 and len(value.items) > 1 else Seq(items, value.form)
        case Items():
            pairs = ((key, item) for key, item in value.items if any(wanted(ref) for ref in refs(item)))
            return Items(tuple((key, kept(item, wanted)) for key, item in pairs))
    return value
