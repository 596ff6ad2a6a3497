"""Who uses what a call gives, and what it was given: the graph of a shape walked forwards and backwards.

Two calls of a shared layer on the same tensors differ in nothing but in who uses their results: by that, a call in the
clone is known again. An operation without a name of its own is known by what it is called on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

from clonediff.harness.subjects.observation import Shape

FAR = 8
"""How many calls ahead are looked at."""

Call = tuple[int, int]
Tensor = tuple[int, int, int]
"""A tensor by the layer that gave it, the use of that, and the output."""


def users(shape: Shape, name: Callable[[int], str]) -> dict[Call, int]:
    """For each call, as layer and use, a number that is the same where the same layers use it alike.

    `name` gives a layer the name that it has on both sides. The numbers hold within one process.
    """
    ends: dict[Call, list[tuple[int, int]]] = defaultdict(list)
    for place, end in enumerate(shape.outputs):
        ends[end.tensor[:2]].append((place, end.tensor[2]))
    uses: dict[Call, list[tuple[str, int, int, Call]]] = defaultdict(list)
    for layer, seen in enumerate(shape.layers):
        for use, call in enumerate(seen.calls):
            for place, (giver, its_use, output) in enumerate(tensors([call.args, call.kwargs])):
                uses[giver, its_use].append((name(layer), place, output, (layer, use)))
    found = {(layer, use): 0 for layer, seen in enumerate(shape.layers) for use in range(len(seen.calls))}
    for _ in range(FAR):
        before, found = found, {}
        for used in before:
            its = sorted((who, place, output, before.get(by, 0)) for who, place, output, by in uses[used])
            found[used] = hash((*its, *ends[used]))
    return found


def origins(shape: Shape, name: Callable[[int], Hashable]) -> list[int]:
    """For each layer, a number that is the same where it is called alike on what the same layers gave.

    `name` gives a layer what it has on both sides. The numbers hold within one process.
    """
    given = [[list(tensors([call.args, call.kwargs])) for call in layer.calls] for layer in shape.layers]
    own = [hash(name(index)) for index in range(len(shape.layers))]
    found = own
    for _ in range(FAR):
        before = [*found, 0]  # -1 is no layer of the model
        found = [
            hash((its, *(tuple((before[giver], use, output) for giver, use, output in call) for call in calls)))
            for its, calls in zip(own, given, strict=True)
        ]
    return found


def tensors(value: Any) -> Iterator[Tensor]:
    """Every tensor in a skeleton of arguments."""
    return (tensor for _, tensor in tensors_at(value))


def tensors_at(value: Any, path: str = "") -> Iterator[tuple[str, Tensor]]:
    """Every tensor in a skeleton of arguments, with its path, as `skeletons.unlike` tells it."""
    if isinstance(value, dict) and isinstance(value.get("tensor"), list):
        layer, use, output = value["tensor"]
        yield path, (layer, use, output)
    else:
        for key, item in items(value):
            yield from tensors_at(item, f"{path}[{key!r}]")


def items(value: Any) -> Iterable[tuple[Any, Any]]:
    """What stands in a skeleton, each with its key or its number; nothing in a leaf."""
    if not isinstance(value, dict):
        return enumerate(value) if isinstance(value, list) else ()
    if isinstance(value.get("tuple"), list):
        return enumerate(value["tuple"])
    its: Iterable[tuple[Any, Any]] = value["dict"] if isinstance(value.get("dict"), list) else value.items()
    return its
