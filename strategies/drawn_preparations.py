"""What is done to the model of a drawn graph before it is cloned: read from a few digits, as far as Keras can do it."""

from __future__ import annotations

import random
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import structs

from clonediff.strategies.asking import keras
from clonediff.strategies.graph import Graph, Preparation, Seq
from clonediff.strategies.kinds import LEFT_OUT
from clonediff.strategies.kinds.objects import Objects, drawn_object
from clonediff.strategies.no_oracle import unsaid
from clonediff.strategies.preparations import PREPARATIONS, RATE

_EACH = 11
"""As many digits a preparation is read from: what it does, to what, and its arguments."""
_MOST = 3
DIGITS = 1 + _MOST * _EACH
_FIRST = 160
"""A digit below that gives an argument its simplest value."""
TRIES = 4
"""So many preparations are tried at most for one."""


def preparations_of(
    graph: Graph,
    digits: Sequence[int],
    missing: Collection[str],
    *,
    objects: Objects | None = None,
) -> tuple[Preparation, ...]:
    """The preparations that the digits stand for: one as a rule, three at most, and none twice.

    In one of `RATE` cases the first is a costly one, if any can be done. What a model is compiled with is one of the
    `objects` as well.
    """
    cheap = [name for name, sort in PREPARATIONS.items() if name not in missing and not sort.costly]
    costly = [name for name, sort in PREPARATIONS.items() if name not in missing and sort.costly]
    count = 1 + (digits[0] % 4 == 3) + (digits[0] % 16 == 15)
    chosen = zlib.crc32(bytes(digits)) % RATE == 0
    for number in range(count):
        read = digits[1 + number * _EACH : 1 + (number + 1) * _EACH]
        offers = [*_offers(graph, read, costly, objects)][: TRIES // 2] if chosen and number == 0 else []
        graph = _done(graph, (*offers, *_offers(graph, read, cheap, objects)))
    return graph.preparations


def _done(graph: Graph, offers: Sequence[Preparation]) -> Graph:
    """The graph with the first preparation that Keras can do to its model, and of which it is known what is right."""
    tries = TRIES
    for preparation in offers:
        if any((each.does, each.kind) == (preparation.does, preparation.kind) for each in graph.preparations):
            continue
        offer = structs.replace(graph, preparations=(*graph.preparations, preparation))
        if unsaid(offer):
            continue
        if not keras().refuses(offer):
            return offer
        tries -= 1
        if not tries:
            break
    return graph


def _offers(
    graph: Graph, digits: Sequence[int], there: Sequence[str], objects: Objects | None
) -> Iterator[Preparation]:
    """Preparations of each sort that the graph has something for, the first twice: as drawn, and done plainly."""
    which, target, *rest = digits
    order = _by_weight(there, 256 * which + target) if which or target else there
    possible = [(name, on) for name in order if (on := list(PREPARATIONS[name].on(graph)))]
    for number, (name, on) in enumerate(possible):
        kind = on[target % len(on)]
        drawn = _preparation(graph, name, kind, rest)
        if objects:
            yield from _with_objects(drawn, rest, objects)
        yield drawn
        if not number:
            plain = _preparation(graph, name, on[(target + 1) % len(on)], [0] * len(rest))
            yield structs.replace(plain, args=PREPARATIONS[name].plainly or plain.args)


def _by_weight(names: Sequence[str], seed: int) -> list[str]:
    """The sorts in an order in which one of twice the weight comes first twice as often."""
    drawn = random.Random(seed)
    turns = {name: drawn.random() ** (1 / PREPARATIONS[name].weight) for name in names}
    return sorted(names, key=turns.__getitem__, reverse=True)


def _preparation(graph: Graph, name: str, kind: str | None, digits: Sequence[int]) -> Preparation:
    known = PREPARATIONS[name].args(graph, kind)
    if PREPARATIONS[name].one:
        key, values = list(known.items())[digits[0] % len(known)]
        return Preparation(name, kind, ((key, values[digits[1] % len(values)]),))
    args = []
    for (key, values), digit in zip(known.items(), digits, strict=False):
        needed = LEFT_OUT not in values
        value = values[digit % len(values)] if needed or digit >= _FIRST else values[0]
        if value != LEFT_OUT:
            args.append((key, value))
    return Preparation(name, kind, tuple(args))


_WITH: Mapping[str, str] = {"optimizer": "optimizer", "loss": "loss", "metrics": "metric", "weighted_metrics": "metric"}
"""The arguments of `compile` that take objects, with their sorts."""


def _with_objects(drawn: Preparation, digits: Sequence[int], objects: Objects) -> Iterator[Preparation]:
    """What is compiled with objects of the release, in the place of those that are drawn.

    A digit below `_OF_RELEASE` leaves an argument as it is.
    """
    if drawn.does != "compile":
        return
    draw = random.Random(zlib.crc32(bytes(digits)))
    args = dict(drawn.args)
    for (argument, sort), digit in zip(_WITH.items(), digits, strict=False):
        found = drawn_object(sort, objects, draw)
        if digit >= _OF_RELEASE and found is not None:
            args[argument] = Seq((found,)) if sort == "metric" else found
    if args != dict(drawn.args):
        yield structs.replace(drawn, args=tuple(args.items()))


_OF_RELEASE = 96
