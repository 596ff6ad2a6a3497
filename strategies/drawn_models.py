"""Models within a model, and layers used again: read from the digits of an instruction."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from clonediff.strategies.graph import Axis, Value
from clonediff.strategies.programs import NOTHING, REGISTERS, Again, Apply, Arrangement, Instruction, Nest


class Digits(NamedTuple):
    """What is drawn for an instruction beside what it is. Each reads a digit by its remainder, as it needs."""

    source: int
    second: int
    dest: int
    way: int
    touch: int
    options: tuple[int, ...]
    more: tuple[tuple[int, int], ...]
    """Which further argument, and which of its values."""


def again(digits: Digits, otherwise: bool) -> Again:
    trainings: tuple[tuple[tuple[str, Value], ...], ...] = ((), (("training", True),), (("by", 2.0),), ())
    back, call, packing, *_ = digits.options
    packing = _otherwise(packing) if otherwise else 0
    return Again(back % 4, (digits.source, digits.second), digits.dest, trainings[call % 4], packing)


def _otherwise(digit: int) -> int:
    """Half of the models are called in the usual way."""
    return max(0, digit - 127)


def nest(
    digits: Digits,
    body: tuple[Instruction, ...],
    features: Collection[str],
    *,
    outermost: bool,
) -> Nest:
    """A model; what it may have beside that is of those features."""
    first, second, both, chain, packing, *_ = digits.options
    made = Nest(
        body,
        (digits.source, digits.second)[: 1 + digits.way % 2],
        digits.dest,
        (first % (REGISTERS + 1), second % (REGISTERS + 1))[: 1 + both % 2],
        chain % 3 == 1,
        ("", "", "", "named", "frozen", "")[digits.touch % 6],
    )
    (names, takes), (axis, casts) = digits.more
    if "late building" in features:
        made = replace(made, later=takes % 3 == 2)
    if "own classes" in features and digits.touch // 6 % 6 == 5:
        made = replace(made, own=digits.way // 2)
    if "cut out" in features and digits.touch // 36 == 5:
        made = replace(made, cut=(first // (REGISTERS + 1), second // (REGISTERS + 1), 0))
    if "call arguments" in features and digits.touch // 36 == 6:
        masked = "masks of models" in features and first // (REGISTERS + 1) % 2
        made = replace(made, given="mask" if masked else "training")
    if "model calls" not in features:
        return made
    more_or_less = _AXES[axis % 6] if outermost else ""
    if more_or_less and any(each != NOTHING for each in body):
        made = replace(made, body=(_OF_ANY_RANK,))  # of nothing it makes none, or it would be the smaller draw
    return replace(
        made,
        names=names % 4 == 3 or _TAKES[takes % 8] == "dict",
        takes=_TAKES[takes % 8],
        packing=_otherwise(packing),
        axis=more_or_less,
        casts=casts % 3 == 2,
    )


_TAKES: tuple[Arrangement, ...] = ("plain", "plain", "plain", "plain", "plain", "list", "tuple", "dict")
_OF_ANY_RANK = Apply("Dense", options=(("units", 4),))
_AXES: tuple[Axis, ...] = ("", "", "", "", "more", "less")
