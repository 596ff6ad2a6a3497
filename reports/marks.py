"""Which boxes of a drawing differ, and in what: the first layer where original and clone part, and those after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clonediff.reports.naming import Key, Names
from clonediff.reports.records import Difference
from clonediff.strategies.graph import Graph

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


def marks(graph: Graph, differences: Sequence[Difference]) -> Marks:
    """The marks for a drawing of the graph. What stands at no layer that the graph has is left out."""
    names = Names(graph)
    first: Use | None = None
    at: dict[Use, list[Mark]] = {}
    for number, difference in enumerate(differences):
        place = difference.first
        key = names.key(place) if place is not None else None
        if place is None or key is None:
            continue
        use = (key, max(0, min(place.use, names.uses.get(key, 1) - 1)))
        if number == 0:
            first = use
        mark = Mark(difference.aspect, *sides(difference))
        # In inference and in training, of a step and of the model: the same thing is said once.
        if mark not in at.setdefault(use, []):
            at[use].append(mark)
    made = not any(difference.check == "made" for difference in differences)
    return Marks(first, {use: tuple(each) for use, each in at.items()}, made)


def sides(difference: Difference) -> tuple[str, str]:
    """What a difference says of the original and of the clone; of arrays, their first numbers that differ."""
    if difference.numbers is not None:
        return difference.numbers.expected, difference.numbers.found
    if difference.raised is not None:
        return "nothing", difference.raised.type
    if difference.digests is not None:
        return "its values", "other values"
    return difference.expected, difference.found
