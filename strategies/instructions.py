"""How an instruction is drawn: as two draws, what it is and a string of bytes that it reads as it needs.

So changing what it is leaves the draws after it where they were, and leaving it out is a deletion short enough for
Hypothesis to try.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from hypothesis import strategies as st

from clonediff.strategies.graph import Value
from clonediff.strategies.kinds import Kind
from clonediff.strategies.kinds.arguments import TOUCHED
from clonediff.strategies.kinds.forms import is_shared, sort_of
from clonediff.strategies.kinds.given import Given
from clonediff.strategies.programs import NOTHING, REGISTERS, Again, Apply, Instruction, Nest, Touch

DrawFn = Callable[[st.SearchStrategy[Any]], Any]

OPTIONS = 5
"""How many options an instruction can choose."""
_MORE = 2
"""How many further arguments it can set."""
_BYTES = st.binary(min_size=5 + OPTIONS + 2 * _MORE, max_size=5 + OPTIONS + 2 * _MORE)
_DESTS = (0, 0, 1, 2)
_UNSAID = 192
"""A byte below that sets no further argument: three of four."""
PLAIN = 160
"""A byte below that gives an argument one of its plain values; of the others, functions and objects have a form."""
_OPERATIONS = "operations"
"""The family that is drawn beside all the others, however many kinds each of the two has."""
_LAYERS = 3
"""So many layers are drawn for one operation."""


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


def instructions(kinds: Mapping[str, Kind], given: Given, depth: int = 2) -> st.SearchStrategy[Instruction]:
    """One instruction. Shrinks towards none at all, then down the catalogue, then reuse, then nesting.

    `given` says what arguments are given, `depth` how many models may still be nested in one another.
    """
    meanings: list[Callable[[Digits], Instruction]] = [lambda digits: NOTHING]
    times = _times(kinds.values())
    for kind in kinds.values():
        meanings += [_application(kind, given)] * (kind.weight * (1 if kind.family == _OPERATIONS else times))
    count = len(meanings)
    meanings += [_again] * max(1, count // 8)
    nests = max(1, count // 16) if depth > 0 else 0
    verbs = st.integers(0, len(meanings) + nests - 1)
    inner = instructions(kinds, given, depth - 1) if nests else st.nothing()
    body = st.lists(inner, min_size=1, max_size=3).map(tuple) if nests else st.just(())

    @st.composite
    def instruction(draw: DrawFn) -> Instruction:
        verb: int = draw(verbs)
        if verb == 0:
            return NOTHING
        source, second, dest, way, touch, *rest = draw(_BYTES)
        digits = Digits(
            source % (REGISTERS + 1),
            second % (REGISTERS + 1),
            _DESTS[dest % 4],
            way,
            touch,
            tuple(rest[:OPTIONS]),
            tuple(zip(rest[OPTIONS::2], rest[OPTIONS + 1 :: 2], strict=True)),
        )
        if verb < len(meanings):
            return meanings[verb](digits)
        return _nest(digits, draw(body))

    return instruction()


def _times(kinds: Collection[Kind]) -> int:
    """How much more often a layer is drawn than its weight says, so that one kind in four is an operation at most."""
    operations = sum(kind.weight for kind in kinds if kind.family == _OPERATIONS)
    layers = sum(kind.weight for kind in kinds) - operations
    return max(1, round(_LAYERS * operations / layers)) if layers else 1


def _application(kind: Kind, given: Given) -> Callable[[Digits], Apply]:
    """How digits are read for a layer of this kind; those of many options are read in a circle."""
    given = Given() if kind.family == _OPERATIONS else given
    ways = ("", *kind.calls)
    touches = touches_of(kind)

    def application(digits: Digits) -> Apply:
        count, how = kind.forms[digits.way % len(kind.forms)]
        turned = itertools.cycle(digits.options)
        options = tuple(_chosen(kind, kind.options, turned, given))
        touch = touches[digits.touch % len(touches)]
        further = (*_further(kind, digits.more, given), *_touched(kind, touch, digits.more[-1][1], given))
        return Apply(
            kind.name,
            (digits.source, digits.second, digits.second + 1, digits.second + 2)[:count],
            digits.dest,
            options,
            tuple(_chosen(kind, kind.call_options, turned, Given())),
            ways[digits.way % len(ways)],  # type: ignore[arg-type]  # the kind's own words
            touch,
            (*_also_shared(kind, (*options, *further)), *further),
            how,
        )

    return application


def _chosen(
    kind: Kind, options: Mapping[str, tuple[Value, ...]], digits: Iterator[int], given: Given
) -> Iterator[tuple[str, Value]]:
    return ((key, given.value(kind.name, key, values, next(digits))) for key, values in options.items())


def _further(kind: Kind, digits: tuple[tuple[int, int], ...], given: Given) -> Iterator[tuple[str, Value]]:
    more = tuple(kind.more.items())
    for which, value in digits:
        if more and which >= _UNSAID:
            key, values = more[(which - _UNSAID) % len(more)]
            yield key, given.value(kind.name, key, values, value)


def _touched(kind: Kind, touch: Touch, digit: int, given: Given) -> Iterator[tuple[str, Value]]:
    """The argument that a layer is given by its touch."""
    if touch in TOUCHED:
        key, values = TOUCHED[touch]
        yield key, given.value(kind.name, key, values, digit)


def _also_shared(kind: Kind, args: tuple[tuple[str, Value], ...]) -> Iterator[tuple[str, Value]]:
    """The other arguments of a layer that take an object which several owners are to have."""
    said = dict(args)
    for name, value in args:
        if is_shared(value):
            there = [key for key in kind.more if sort_of(key) == sort_of(name) and key not in said]
            yield from ((key, value) for key in there[:1])


def touches_of(kind: Kind) -> tuple[Touch, ...]:
    """A touch for each digit: mostly none. An operation has none."""
    if not kind.shared:
        return ("",)
    touches: tuple[Touch, ...] = (*_TOUCHES, "supports_masking") if kind.name == "DropMask" else _TOUCHES
    none: list[Touch] = [""] * (12 - len(touches))
    return (*none, *touches)


_TOUCHES: tuple[Touch, ...] = (
    "attributes",
    "named",
    "frozen",
    "frozen after",
    "dtype",
    "policy",
    "policy map",
    "autocast",
    "regularized",
)
"""What is done to a layer beside its arguments."""


def _again(digits: Digits) -> Again:
    trainings: tuple[tuple[tuple[str, Value], ...], ...] = ((), (("training", True),), (("by", 2.0),), ())
    back, call, *_ = digits.options
    return Again(back % 4, (digits.source, digits.second), digits.dest, trainings[call % 4])


def _nest(digits: Digits, body: tuple[Instruction, ...]) -> Nest:
    """A model, called on a tensor or two."""
    first, second, both, chain, *_ = digits.options
    made = Nest(
        body,
        (digits.source, digits.second)[: 1 + digits.way % 2],
        digits.dest,
        (first % (REGISTERS + 1), second % (REGISTERS + 1))[: 1 + both % 2],
        chain % 3 == 1,
        ("", "", "", "named", "frozen", "")[digits.touch % 6],
    )
    if digits.touch // 6 % 6 == 5:
        made = replace(made, custom_class=digits.way // 2)
    if digits.touch // 36 == 6:
        made = replace(made, given="mask" if first // (REGISTERS + 1) % 2 else "training")
    return made
