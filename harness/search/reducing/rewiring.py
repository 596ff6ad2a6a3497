"""Other connections in a graph: tensors taken from elsewhere, calls, layers and inputs left out.

Knows no catalogue: whether the result makes sense is for `clonediff.harness.search.reducing.fitting`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import structs

from clonediff.harness.search.reducing.records import with_field
from clonediff.strategies.graph import Call, Graph, Layer, Ref, Seq, Value, fed_refs, refs
from clonediff.strategies.pruning import Move, idle, kept, moved, moved_call, only, pruned


def rewired(graph: Graph, move: Move) -> Graph | None:
    """Every use of a tensor, outputs of the model among them, taken from elsewhere; what nothing needs now is gone."""
    calls = tuple(moved_call(call, move) for call in graph.calls)
    new = with_field(graph, calls=calls, gives=moved(graph.gives, move))
    return None if new is None else swept(graph, new)


def with_layer(graph: Graph, number: int, layer: Layer) -> Graph | None:
    """Another layer in the place of one."""
    layers = (*graph.layers[:number], layer, *graph.layers[number + 1 :])
    return with_field(graph, layers=layers)


def with_call(graph: Graph, number: int, call: Call) -> Graph | None:
    """Another call in the place of one; what nothing needs now is gone."""
    new = with_field(graph, calls=(*graph.calls[:number], call, *graph.calls[number + 1 :]))
    return None if new is None else swept(graph, new)


def swept(old: Graph, new: Graph, *, drop: Collection[int] = ()) -> Graph:
    """`new` without the calls that it needs no longer, and without layers that nothing calls.

    Both number their nodes alike. A call that led nowhere in `old` stays, but for those in `drop`: it may be the one
    that matters.
    """
    return pruned(new, keep_inputs=True, stays=idle(old) - set(drop))


def without_inputs(graph: Graph, gone: Collection[int]) -> Graph:
    """The graph without inputs that nothing uses. One stays."""
    first = len(graph.inputs)
    left = [place for place in range(first) if place not in gone] or [0]
    return only(graph, left, range(first, first + len(graph.calls)))


def without_calls(graph: Graph, gone: Collection[int]) -> Graph:
    """The graph without some calls that nothing uses, by their nodes. All else stays."""
    first = len(graph.inputs)
    return only(graph, range(first), [node for node in range(first, first + len(graph.calls)) if node not in gone])


def newly_idle(old: Graph, new: Graph) -> list[int]:
    """The inputs that nothing uses in `new`, though `old` used them."""
    before, after = idle(old), idle(new)
    return [place for place in range(len(new.inputs)) if place in after and place not in before]


def trimmed(old: Graph, new: Graph) -> Graph:
    """`new` without the inputs that it needs no longer."""
    gone = newly_idle(old, new)
    return without_inputs(new, gone) if gone else new


def with_inner(graph: Graph, number: int, inner: Graph) -> Graph | None:
    """Another graph for the model that is layer `number`. Inputs that it needs no longer are not fed."""
    layer = graph.layers[number]
    assert layer.graph is not None
    gone = newly_idle(layer.graph, inner)
    inner = without_inputs(inner, gone) if gone else inner
    new = with_layer(graph, number, structs.replace(layer, graph=inner))
    if not gone or new is None:
        return new
    calls = tuple(_fed_less(call, gone) if call.layer == number else call for call in graph.calls)
    new = with_field(new, calls=calls)
    return None if new is None else swept(graph, new)


def _fed_less(call: Call, gone: Collection[int]) -> Call:
    fed = list(fed_refs(call))
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


def without_leaf(value: Value, place: int) -> Value:
    """The nesting of tensors without the one at that place, counted from the left."""
    tensors = list(refs(value))
    numbers = iter(range(len(tensors)))
    numbered = moved(value, lambda _: Ref(next(numbers)))
    return moved(kept(numbered, lambda ref: ref.node != place), lambda ref: tensors[ref.node])
