"""Leave out of a graph what its outputs do not need."""

from __future__ import annotations

from msgspec import structs

from strategies.graph import Call, Graph, Items, Ref, Seq, Value, call_refs, refs


def pruned(graph: Graph, *, keep_inputs: bool = False) -> Graph:
    """The same outputs from fewer calls, layers and inputs. At least one input stays."""
    count = len(graph.inputs)
    needed = {ref.node for ref in refs(graph.gives)}
    for number in range(len(graph.calls) - 1, -1, -1):
        if count + number in needed:
            needed |= {ref.node for ref in call_refs(graph.calls[number])}
    inputs = [place for place in range(count) if keep_inputs or place in needed] or [0]
    calls = [number for number in range(len(graph.calls)) if count + number in needed]
    if len(inputs) == count and len(calls) == len(graph.calls):
        return graph
    used = {graph.calls[number].layer for number in calls}
    layers = [number for number in range(len(graph.layers)) if number in used]
    node = {old: new for new, old in enumerate((*inputs, *(count + number for number in calls)))}
    layer = {old: new for new, old in enumerate(layers)}
    return structs.replace(
        graph,
        inputs=tuple(graph.inputs[place] for place in inputs),
        layers=tuple(graph.layers[number] for number in layers),
        calls=tuple(_moved(graph.calls[number], node, layer) for number in calls),
        takes=_kept(graph.takes, node),
        gives=renumbered(graph.gives, node),
    )


def _moved(call: Call, node: dict[int, int], layer: dict[int, int]) -> Call:
    return structs.replace(
        call,
        layer=layer[call.layer],
        args=tuple(renumbered(value, node) for value in call.args),
        kwargs=tuple((key, renumbered(value, node)) for key, value in call.kwargs),
    )


def renumbered(value: Value, node: dict[int, int]) -> Value:
    """The value with the node of each tensor replaced by its new number."""
    match value:
        case Ref():
            return Ref(node[value.node], value.output)
        case Seq():
            return Seq(tuple(renumbered(item, node) for item in value.items), value.form)
        case Items():
            return Items(tuple((key, renumbered(item, node)) for key, item in value.items))
    return value


def _kept(value: Value, node: dict[int, int]) -> Value:
    """The nesting of inputs without those that are gone; one input left alone needs no list around it."""
    match value:
        case Seq():
            items = tuple(item for item in value.items if any(ref.node in node for ref in refs(item)))
            kept = tuple(_kept(item, node) for item in items)
            return kept[0] if len(kept) == 1 and len(value.items) > 1 else Seq(kept, value.form)
        case Items():
            return Items(tuple((key, _kept(item, node)) for key, item in value.items if next(refs(item)).node in node))
    return renumbered(value, node)
