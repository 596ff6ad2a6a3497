"""What a model may do with its inputs beside taking each once: take one again, make several around tensors."""

from __future__ import annotations

import itertools

from msgspec import structs

from clonediff.strategies.graph import Graph, Input, Items, Ref, Seq, Value, refs
from clonediff.strategies.programs import Arrangement


def repeating(graph: Graph) -> Graph:
    """The model with its first input taken once more, at the end; in a dict there is no second name for it."""
    match graph.takes:
        case Ref():
            return structs.replace(graph, takes=Seq((graph.takes, graph.takes)))
        case Seq(items=items, form=form):
            return structs.replace(graph, takes=Seq((*items, next(refs(graph.takes))), form))
    return graph


def around_others(inputs: tuple[Input, ...]) -> tuple[Input, ...]:
    """No two inputs around tensors of one name."""
    count = itertools.count(2)
    seen: set[str] = set()
    named = []
    for given in inputs:
        if given.around in seen:
            given = structs.replace(given, around=f"{given.around}_{next(count)}")
        elif given.around is not None:
            seen.add(given.around)
        named.append(given)
    return tuple(named)


def arranged(refs: tuple[Ref, ...], how: Arrangement, stem: str) -> Value:
    """Tensors nested as an arrangement says."""
    match how:
        case "plain":
            return refs[0] if len(refs) == 1 else Seq(refs)
        case "list":
            return Seq(refs)
        case "tuple":
            return Seq(refs, "tuple")
        case "dict":
            return Items(tuple((f"{stem}_{place}", ref) for place, ref in enumerate(refs)))
        case "nested":
            return Seq((refs[0], Seq(refs[1:], "tuple"))) if len(refs) > 1 else Seq(refs)
