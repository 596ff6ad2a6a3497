"""Models cut out of other models: which tensors one can begin and end at, and what it is without the other.

A graph with a `base` is one. Owns what the rules of `clonediff.strategies.graph` cannot say of it, because it takes the
shapes, dtypes and masks of its tensors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import structs

from clonediff.strategies.graph import Base, Graph, Input, Ref, Seq, call_refs, refs
from clonediff.strategies.kinds import Spec, Specs
from clonediff.strategies.pruning import kept, moved, moved_call, pruned, reached


def as_input(spec: Spec) -> Input | None:
    """An input for such a tensor. None for whole numbers, which would have to be kept in range, and for texts."""
    if spec.dtype == "bool":
        return Input(spec.shape, "bool", fill="mask")
    return Input(spec.shape, spec.dtype) if "float" in spec.dtype else None


def later_inputs(graph: Graph) -> list[Ref]:
    """The tensors that the model takes though they are none of an input."""
    return [ref for ref in refs(graph.takes) if ref.node >= len(graph.inputs)]


def apart(graph: Graph, specs: Sequence[Specs]) -> Graph | None:
    """The model that was cut out, without its base: with inputs where it begins. None where there can be none."""
    first, later = len(graph.inputs), later_inputs(graph)
    inputs = [as_input(specs[ref.node][ref.output]) for ref in later]
    if any(each is None for each in inputs):
        return None
    batch = graph.batch if any(each.batch is not None for each in graph.inputs) else None
    new = [structs.replace(each, batch=batch) for each in inputs if each is not None]

    def begun(ref: Ref) -> Ref:
        if ref in later:
            return Ref(first + later.index(ref))
        return ref if ref.node < first else Ref(ref.node + len(new), ref.output)

    wanted = [begun(ref) for ref in refs(graph.takes)]
    rest = [Ref(node) for node in range(first + len(new)) if Ref(node) not in wanted]
    plain = structs.replace(
        graph,
        inputs=(*graph.inputs, *new),
        calls=tuple(moved_call(call, begun) for call in graph.calls),
        takes=Seq((*wanted, *rest)),
        gives=moved(graph.gives, begun),
        sequential=False,
        base=None,
    )
    return pruned(plain)


def cut_out(graph: Graph, specs: Sequence[Specs], digits: Sequence[int], *, later: bool) -> Iterator[Graph]:
    """Models cut out of the graph's own, which becomes their base: the one that the digits mean, then simpler ones.

    They use a layer of the base, at least; with `later` they may begin at what a call gave.
    """
    first = len(graph.inputs)
    layers = _layers_behind(graph)
    own = set[int]().union(*(layers[ref.node] for ref in refs(graph.gives)))
    nodes = [node for node in range(first, len(specs)) if not own.isdisjoint(layers[node])]
    made = [Ref(node, output) for node in nodes for output in range(len(specs[node]))]
    if not made:
        return
    last, more, begin, *_ = digits
    ends = [made[-1 - last % len(made)]]
    if more % 4 == 3:
        ends.append(made[-1 - more // 4 % len(made)])
    needed = reached(graph)[1]
    whole = structs.replace(
        graph,
        takes=_ordered(Ref(node) for node in range(first)),
        gives=_ordered(ends),
        base=Base(kept(graph.takes, needed.__contains__), graph.gives),
    )
    inside, inputs = reached(whole)
    nodes = sorted(inside - {ref.node for ref in ends}) if later and begin % 2 else []
    turn = begin // 2 % len(nodes) if nodes else 0
    for node in (*nodes[turn:], *nodes[:turn]):
        tensors = {ref for each in inside for ref in call_refs(graph.calls[each - first]) if ref.node == node}
        begun = structs.replace(whole, takes=_ordered({*tensors, *inputs}))
        yield structs.replace(whole, takes=_ordered(reached(begun)[1]))
    yield structs.replace(whole, takes=_ordered(inputs))


def _layers_behind(graph: Graph) -> list[set[int]]:
    """The layers that each node comes of."""
    found = [set[int]() for _ in graph.inputs]
    for call in graph.calls:
        found.append({call.layer}.union(*(found[ref.node] for ref in call_refs(call))))
    return found


def _ordered(tensors: Iterable[Ref]) -> Ref | Seq:
    """The tensors as a model takes or gives them, each once."""
    found = sorted(set(tensors), key=lambda ref: (ref.node, ref.output))
    return found[0] if len(found) == 1 else Seq(tuple(found))
