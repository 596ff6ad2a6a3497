"""Parts of a graph taken, moved and left out. Owns how nodes are renumbered, and what of a graph nothing needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from msgspec import structs

from clonediff.strategies.graph import Base, Call, Graph, Items, Ref, Seq, Value, call_refs, refs

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


def moved_ends(graph: Graph, move: Move) -> dict[str, Any]:
    """What the graph's model gives, and what else leads out of the graph, as other tensors: changes to the graph.

    Inputs that are taken stay what they are.
    """
    changes: dict[str, Any] = {"gives": moved(graph.gives, move)}
    if graph.base is not None:
        first = len(graph.inputs)
        changes["takes"] = moved(graph.takes, lambda ref: ref if ref.node < first else move(ref))
        changes["base"] = Base(graph.base.takes, moved(graph.base.gives, move))
    return changes


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


def ends_of(graph: Graph) -> Iterator[Ref]:
    """What the graph's model gives; of one that is cut out, what its base gives and where it begins as well."""
    yield from refs(graph.gives)
    if graph.base is not None:
        yield from refs(graph.base.gives)
        yield from (ref for ref in refs(graph.takes) if ref.node >= len(graph.inputs))


def reached(graph: Graph) -> tuple[set[int], set[Ref]]:
    """The calls that make up a model that is cut out, and the tensors that these and its outputs begin at.

    Those are what it takes, and inputs that it should.
    """
    first, taken = len(graph.inputs), set(refs(graph.takes))
    inside, begins, waiting = set[int](), set[Ref](), list(refs(graph.gives))
    while waiting:
        ref = waiting.pop()
        if ref in taken or ref.node < first:
            begins.add(ref)
        elif ref.node not in inside:
            inside.add(ref.node)
            waiting += call_refs(graph.calls[ref.node - first])
    return inside, begins


def first_called_beside(graph: Graph, kinds: Collection[str]) -> bool:
    """Whether the first call of a layer of one of these kinds is none of the model's."""
    inside, seen = reached(graph)[0], set[int]()
    for node, call in enumerate(graph.calls, len(graph.inputs)):
        if call.layer not in seen and graph.layers[call.layer].kind in kinds and node not in inside:
            return True
        seen.add(call.layer)
    return False


def idle(graph: Graph) -> set[int]:
    """The nodes that no call and no output of the model uses."""
    used = {ref.node for ref in ends_of(graph)} | {ref.node for call in graph.calls for ref in call_refs(call)}
    return set(range(len(graph.inputs) + len(graph.calls))) - used


def pruned(graph: Graph, *, keep_inputs: bool = False, stays: Collection[int] = ()) -> Graph:
    """The same outputs from fewer calls, layers and inputs. At least one input stays, and the calls in `stays`."""
    first = len(graph.inputs)
    needed = {*stays, *(ref.node for ref in ends_of(graph))}
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

    def taken(takes: Value) -> Value:
        return moved(kept(takes, lambda ref: ref.node in node), move)

    base = graph.base
    calls = (graph.calls[number] for number in numbers)
    return structs.replace(
        graph,
        inputs=tuple(graph.inputs[place] for place in inputs),
        layers=tuple(graph.layers[number] for number in layers),
        calls=tuple(moved_call(call, move, layer=layer[call.layer]) for call in calls),
        takes=taken(graph.takes),
        gives=moved(graph.gives, move),
        base=None if base is None else Base(taken(base.takes), moved(base.gives, move)),
    )
