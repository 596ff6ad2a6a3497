"""Which boxes of a drawing differ, and in what: the first layer where original and clone part, and those after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clonediff.reports.records import Difference, Place
from clonediff.strategies.graph import Graph, made_layers

Key = tuple[int, ...]
"""A layer by the numbers of the models around it and its own; an input as -1 less its number; () is the model."""
Use = tuple[Key, int]
"""A layer, and which of its calls."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What differs at a box: its aspect, and how it is in the original and in the clone."""

    aspect: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class Marks:
    """`first` is where they part, None where no layer is named; `made` says whether there is a clone at all."""

    first: Use | None
    at: dict[Use, tuple[Mark, ...]]
    made: bool = True


@dataclass(frozen=True, slots=True)
class _Layer:
    """A layer of the graph: its kind and those of the layers that it holds, and how often it is called."""

    kinds: tuple[str, ...]
    name: str | None
    uses: int = 1


def marks(graph: Graph, differences: Sequence[Difference]) -> Marks:
    """The marks for a drawing of the graph. What stands at no layer that the graph has is left out."""
    layers = dict(_layers(graph, ()))
    first: Use | None = None
    at: dict[Use, list[Mark]] = {}
    for number, difference in enumerate(differences):
        key = _key(difference.first, layers)
        if key is None or difference.first is None:
            continue
        use = (key, max(0, min(difference.first.use, layers[key].uses - 1)))
        if number == 0:
            first = use
        mark = Mark(difference.aspect, *sides(difference))
        # In inference and in training, of a step and of the model: the same thing is said once.
        if mark not in at.setdefault(use, []):
            at[use].append(mark)
    made = not any(difference.check == "made" for difference in differences)
    return Marks(first, {use: tuple(each) for use, each in at.items()}, made)


def _layers(graph: Graph, around: Key) -> Iterator[tuple[Key, _Layer]]:
    if not around:
        yield (), _Layer((), None)
    for number, given in enumerate(graph.inputs):
        yield (*around, -1 - number), _Layer(("InputLayer",), given.name)
    uses = Counter(call.layer for call in graph.calls)
    for number, layer in enumerate(graph.layers):
        name = layer.name or (layer.graph.name if layer.graph is not None else None)
        kinds = layer.kind, *(each.kind for each in made_layers(layer))
        yield (*around, number), _Layer(kinds, name, uses[number])
        if layer.graph is not None:
            yield from _layers(layer.graph, (*around, number))


def _key(place: Place | None, layers: Mapping[Key, _Layer]) -> Key | None:
    """The layer of a place. Where the record does not say, the one of that name, or the only one of that kind."""
    if place is None:
        return None
    if place.at is not None or place.layer == -1:
        at = place.at or ()
        return at if at in layers else None
    for name in reversed(place.name.split("/")):
        named = [key for key, layer in layers.items() if layer.name == name]
        if named:
            return named[0]
    alike = [key for key, layer in layers.items() if place.kind in layer.kinds]
    return alike[0] if len(alike) == 1 else None


def sides(difference: Difference) -> tuple[str, str]:
    """What a difference says of the original and of the clone; of arrays, their first numbers that differ."""
    if difference.numbers is not None:
        return difference.numbers.expected, difference.numbers.found
    if difference.raised is not None:
        return "nothing", difference.raised.type
    if difference.digests is not None:
        return "its values", "other values"
    return difference.expected, difference.found
