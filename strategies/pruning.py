"""Parts of a graph taken, moved and left out. Owns how nodes are renumbered, and what of a graph nothing needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from msgspec import structs

from clonediff.strategies.graph import Call, Graph, Items, Layer, Ref, Seq, Value, call_refs, refs

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


def costs(layer: Layer) -> bool:
    """Whether each call of a layer adds to the losses of the model."""
    return layer.kind == "ActivityRegularization" or layer.arg("activity_regularizer") is not None


def idle(graph: Graph) -> set[int]:
    """The nodes that no call and no output of the model uses."""
    used = {ref.node for ref in refs(graph.gives)} | {ref.node for call in graph.calls for ref in call_refs(call)}
    return set(range(len(graph.inputs) + len(graph.calls))) - used


def pruned(graph: Graph, *, keep_inputs: bool = False, stays: Collection[int] = ()) -> Graph:
    """The same outputs from fewer calls, layers and inputs. At least one input stays, and the calls in `stays`."""
    first = len(graph.inputs)
    needed = {*stays, *(ref.node for ref in refs(graph.gives))}
    for node in range(first + len(graph.calls) - 1, first - 1, -1):
        if node in needed:
            needed.update(ref.node for ref in call_refs(graph.calls[node - first]))
    inputs = [place for place in range(first) if keep_inputs or place in needed] or [0]
    return only(graph, inputs, [node for node in range(first, first + len(graph.calls)) if node in needed])


def only(graph: Graph, inputs: Iterable[int], nodes: Iterable[int]) -> Graph:
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

    calls = (graph.calls[number] for number in numbers)
    return structs.replace(
        graph,
        inputs=tuple(graph.inputs[place] for place in inputs),
        layers=tuple(graph.layers[number] for number in layers),
        calls=tuple(moved_call(call, move, layer=layer[call.layer]) for call in calls),
        takes=moved(kept(graph.takes, lambda ref: ref.node in node), move),
        gives=moved(graph.gives, move),
    )
