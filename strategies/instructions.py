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

from clonediff.strategies.graph import Axis, Value
from clonediff.strategies.kinds import Kind
from clonediff.strategies.kinds.arguments import TOUCHED
from clonediff.strategies.kinds.forms import is_shared, sort_of
from clonediff.strategies.kinds.given import Given
from clonediff.strategies.programs import NOTHING, REGISTERS, Again, Apply, Arrangement, Instruction, Nest, Touch

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


def instructions(
    kinds: Mapping[str, Kind], features: Collection[str], given: Given, depth: int = 2
) -> st.SearchStrategy[Instruction]:
    """One instruction. Shrinks towards none at all, then down the catalogue, then reuse, then nesting.

    `given` says what arguments are given, `depth` how many models may still be nested in one another.
    """
    meanings: list[Callable[[Digits], Instruction]] = [lambda digits: NOTHING]
    times = _times(kinds.values())
    for kind in kinds.values():
        meanings += [_application(kind, features, given)] * (kind.weight * (1 if kind.family == _OPERATIONS else times))
    count = len(meanings)
    if "sharing" in features:
        meanings += [lambda digits: _again(digits, features)] * max(1, count // 8)
    nests = max(1, count // 16) if "nesting" in features and depth > 0 else 0
    verbs = st.integers(0, len(meanings) + nests - 1)
    inner = instructions(kinds, features, given, depth - 1) if nests else st.nothing()
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
        return _nest(digits, draw(body), features, outermost=depth > 1 and "Dense" in kinds)

    return instruction()


def _times(kinds: Collection[Kind]) -> int:
    """How much more often a layer is drawn than its weight says, so that one kind in four is an operation at most."""
    operations = sum(kind.weight for kind in kinds if kind.family == _OPERATIONS)
    layers = sum(kind.weight for kind in kinds) - operations
    return max(1, round(_LAYERS * operations / layers)) if layers else 1


def _application(kind: Kind, features: Collection[str], given: Given) -> Callable[[Digits], Apply]:
    """How digits are read for a layer of this kind; those of many options are read in a circle."""
    given = Given() if kind.family == _OPERATIONS else given
    calls = [name for name in kind.calls if name != "other" or "optional inputs" in features]
    ways = ("", *calls) if "call arguments" in features else ("",)
    touches = touches_of(kind, features)

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


def touches_of(kind: Kind, features: Collection[str]) -> tuple[Touch, ...]:
    """A touch for each digit: mostly none. An operation has none."""
    if not kind.shared:
        return ("",)
    touches = [touch for touch, needed in _TOUCHES if needed in features]
    if kind.name == "DropMask":
        touches.append("supports_masking")
    none: list[Touch] = [""] * (12 - len(touches))
    return (*none, *touches)


_TOUCHES: tuple[tuple[Touch, str], ...] = (
    ("attributes", "forms of values"),
    ("named", "names"),
    ("frozen", "frozen parts"),
    ("frozen after", "frozen parts"),
    ("dtype", "dtypes"),
    ("policy", "policies"),
    ("policy map", "policy maps"),
    ("autocast", "policies"),
    ("regularized", "regularizers"),
)
"""What is done to a layer beside its arguments, with the feature that this is."""


def _again(digits: Digits, features: Collection[str]) -> Again:
    trainings: tuple[tuple[tuple[str, Value], ...], ...] = ((), (("training", True),), (("by", 2.0),), ())
    back, call, packing, *_ = digits.options
    packing = _otherwise(packing) if "model calls" in features else 0
    return Again(back % 4, (digits.source, digits.second), digits.dest, trainings[call % 4], packing)


def _otherwise(digit: int) -> int:
    """Half of the models are called in the usual way."""
    return max(0, digit - 127)


def _nest(digits: Digits, body: tuple[Instruction, ...], features: Collection[str], *, outermost: bool) -> Nest:
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
        made = replace(made, custom_class=digits.way // 2)
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
