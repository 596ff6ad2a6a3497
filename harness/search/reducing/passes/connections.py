"""Passes on what is connected with what: outputs, inputs, calls and the tensors they use."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from clonediff.harness.search.reducing.passes.bases import Offers, specs_of
from clonediff.harness.search.reducing.records import with_field
from clonediff.harness.search.reducing.rewiring import (
    on_tensors,
    rewired,
    swept,
    trimmed,
    with_call,
    with_layer,
    without_calls,
    without_inputs,
    without_leaf,
    without_output,
)
from clonediff.strategies.graph import Function, Graph, Input, Ref, Seq, Value, call_refs, fed_refs, refs
from clonediff.strategies.kinds import Spec
from clonediff.strategies.pruning import Move, idle, moved, moved_call


def end_earlier(graph: Graph) -> Offers:
    """A single output: one of those there are, or else any tensor at all, those that calls give first."""
    first = len(graph.inputs)
    given = list(dict.fromkeys(refs(graph.gives)))
    inside = [Ref(first + n, output) for n, call in enumerate(graph.calls) for output in range(call.outputs)]
    for ref in dict.fromkeys((*given, *inside, *(Ref(place) for place in range(first)))):
        if [ref] != given or graph.gives != ref:
            yield _giving(graph, ref)


def drop_output(graph: Graph) -> Offers:
    """All outputs but one, nested as they were; the inputs that only it needed go with it, or stay."""
    count = len(list(refs(graph.gives)))
    for place in range(count if count > 1 else 0):
        gives = without_leaf(graph.gives, place)
        yield _giving(graph, gives)
        new = with_field(graph, gives=gives)
        yield None if new is None else swept(graph, new)


def chain_output(graph: Graph) -> Offers:
    """A later call on what was an output, which then need not be one."""
    given = list(refs(graph.gives))
    first = len(graph.inputs)
    for place, ref in enumerate(given if len(given) > 1 else ()):
        for number in range(max(0, ref.node - first + 1), len(graph.calls)):
            for old in dict.fromkeys(fed_refs(graph.calls[number])):
                if old != ref:
                    fed = moved_call(graph.calls[number], _instead_of(old, ref))
                    calls = (*graph.calls[:number], fed, *graph.calls[number + 1 :])
                    new = with_field(graph, calls=calls, gives=without_leaf(graph.gives, place))
                    yield None if new is None else trimmed(graph, swept(graph, new))


def give_plainly(graph: Graph) -> Offers:
    """The outputs in no dict, tuple or nested list, in the order of their calls; or else in lists only."""
    given = sorted(refs(graph.gives), key=lambda ref: (ref.node, ref.output))
    yield _giving(graph, given[0] if len(given) == 1 else Seq(tuple(given)))
    yield _giving(graph, plain_ends(graph.gives))
    yield _giving(graph, _listed(graph.gives))


def _listed(ends: Value) -> Value:
    return Seq(tuple(_listed(item) for item in ends.items)) if isinstance(ends, Seq) else ends


def take_plainly(graph: Graph) -> Offers:
    """The inputs likewise; those of a dict need no names then."""
    takes = plain_ends(graph.takes)
    if takes != graph.takes:
        nameless = tuple(structs.replace(given, name=None) for given in graph.inputs)
        yield with_field(graph, takes=takes, inputs=nameless)
        yield with_field(graph, takes=takes)


def plain_ends(ends: Value) -> Value:
    """The tensors in no dict, tuple or nested list."""
    tensors = tuple(refs(ends))
    return tensors[0] if len(tensors) == 1 else Seq(tensors)


def _giving(graph: Graph, gives: Value) -> Graph | None:
    new = with_field(graph, gives=gives)
    return None if new is None else trimmed(graph, swept(graph, new))


def drop_idle_input(graph: Graph) -> Offers:
    """No input that nothing uses."""
    for place in sorted(idle(graph)):
        if place < len(graph.inputs) and len(graph.inputs) > 1:
            yield without_inputs(graph, [place])


def merge_inputs(graph: Graph) -> Offers:
    """One input in the place of another."""
    for gone in range(len(graph.inputs) - 1, -1, -1):
        for place in range(len(graph.inputs)):
            if place != gone:
                yield rewired(graph, _instead(gone, Ref(place)))


def _instead(node: int, ref: Ref) -> Move:
    """A tensor in the place of all that a node gives."""
    return lambda each: ref if each.node == node else each


def _instead_of(old: Ref, ref: Ref) -> Move:
    return lambda each: ref if each == old else each


def _always(ref: Ref) -> Move:
    return lambda _: ref


def begin_later(graph: Graph) -> Offers:
    """The tensors that a call gives become inputs: nothing is left of what they are made of. The last calls first."""
    specs = specs_of(graph)
    if graph.sequential or not specs:
        return
    first = len(graph.inputs)
    for node in range(first + len(graph.calls) - 1, first - 1, -1):
        used = sorted({ref.output for ref in _used(graph) if ref.node == node})
        inputs = [_as_input(specs[node][output]) for output in used]
        if used and None not in inputs:
            yield _with_inputs(graph, node, used, [each for each in inputs if each is not None])


def _as_input(spec: Spec) -> Input | None:
    """An input for such a tensor. None for whole numbers, which would have to be kept in range, and for texts."""
    if spec.dtype == "bool":
        return Input(spec.shape, "bool", fill="mask")
    return Input(spec.shape, spec.dtype) if "float" in spec.dtype else None


def _used(graph: Graph) -> Iterator[Ref]:
    yield from refs(graph.gives)
    for call in graph.calls:
        yield from call_refs(call)


def _with_inputs(graph: Graph, node: int, outputs: list[int], inputs: list[Input]) -> Graph | None:
    first, more = len(graph.inputs), len(inputs)

    def later(ref: Ref) -> Ref:
        return ref if ref.node < first else Ref(ref.node + more, ref.output)

    tensors = (*refs(graph.takes), *(Ref(first + place) for place in range(more)))
    room = with_field(
        graph,
        inputs=(*graph.inputs, *inputs),
        calls=tuple(moved_call(call, later) for call in graph.calls),
        takes=Seq(tensors),
        gives=moved(graph.gives, later),
    )
    if room is None:
        return None

    def begun(ref: Ref) -> Ref:
        return Ref(first + outputs.index(ref.output)) if ref.node == node + more else ref

    new = rewired(room, begun)
    return None if new is None else trimmed(room, new)


def bypass_call(graph: Graph) -> Offers:
    """What a call is given in the place of all that it gives. The last calls first."""
    first = len(graph.inputs)
    for number in range(len(graph.calls) - 1, -1, -1):
        for target in dict.fromkeys(fed_refs(graph.calls[number])):
            yield rewired(graph, _instead(first + number, target))


def use_first_output(graph: Graph) -> Offers:
    """The first tensor that a call gives in the place of another."""
    for ref in sorted({ref for ref in _used(graph) if ref.output}, key=lambda ref: (ref.node, ref.output)):
        yield rewired(graph, _instead_of(ref, Ref(ref.node)))


def unshare(graph: Graph) -> Offers:
    """A layer of its own for each call of one that is shared."""
    for number, layer in enumerate(graph.layers):
        later = [place for place, call in enumerate(graph.calls) if call.layer == number][1:]
        calls = list(graph.calls)
        for own, place in enumerate(later, len(graph.layers)):
            calls[place] = structs.replace(calls[place], layer=own)
        copies = (structs.replace(layer, name=None),) * len(later)
        yield with_field(graph, layers=(*graph.layers, *copies), calls=tuple(calls)) if later else None


def drop_call(graph: Graph) -> Offers:
    """No call that leads nowhere; what only it needed goes with it, or leads nowhere in its turn."""
    first = len(graph.inputs)
    for node in sorted(idle(graph), reverse=True):
        if node >= first:
            yield swept(graph, graph, drop=[node])
            yield without_calls(graph, [node])


def use_one_tensor(graph: Graph) -> Offers:
    """A call on one tensor several times, where it takes several."""
    for number in range(len(graph.calls) - 1, -1, -1):
        call = graph.calls[number]
        different = dict.fromkeys(fed_refs(call))
        for ref in different if len(different) > 1 else ():
            fed = structs.replace(call, args=tuple(moved(value, _always(ref)) for value in call.args))
            yield with_call(graph, number, fed)


def use_fewer_tensors(graph: Graph) -> Offers:
    """A call on one tensor fewer."""
    for number, call in enumerate(graph.calls):
        fed = list(fed_refs(call))
        for place in range(len(fed) if len(fed) > 1 and graph.layers[call.layer].graph is None else 0):
            yield with_call(graph, number, on_tensors(call, [*fed[:place], *fed[place + 1 :]]))


def give_fewer_tensors(graph: Graph) -> Offers:
    """A `Lambda` that gives one tensor fewer; another one serves in its stead."""
    for number, layer in enumerate(graph.layers):
        function = layer.arg("function")
        if layer.kind != "Lambda" or not isinstance(function, Function):
            continue
        count = len(function.gives)
        for output in range(count if count > 1 else 0):
            args = tuple((key, _without(value, output, count)) for key, value in layer.args)
            new = without_output(graph, number, output)
            yield None if new is None else with_layer(new, number, structs.replace(layer, args=args))


def _without(value: Value, output: int, count: int) -> Value:
    """An argument without what it has for an output; as it is where it has not something for each."""
    match value:
        case Function(gives=texts) if len(texts) == count:
            return structs.replace(value, gives=(*texts[:output], *texts[output + 1 :]))
        case Seq(items=items) if len(items) == count:
            return structs.replace(value, items=(*items[:output], *items[output + 1 :]))
    return value
