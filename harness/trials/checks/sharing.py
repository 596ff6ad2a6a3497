"""4. Sharing: two uses share a layer in the clone exactly where they do in the original; nested models too.

Objects are numbered by where they are first met, in the original's order: sharing is the same where the numbers are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from clonediff.harness.trials.checks import holdings
from clonediff.harness.trials.checks.check import Aspects, Check, Reach, Stage, Thing, Turn, trains
from clonediff.harness.trials.checks.pairing import Pair, Pairing
from clonediff.harness.trials.checks.places import at, place
from clonediff.reports.records import Difference, Place


class _Held(NamedTuple):
    ident: int
    path: str
    place: Place


_PARTED: dict[str, Any] = {
    "reach": Reach.BEHAVIOUR,
    "changes": (Thing.OBJECTS, Thing.BUILD, Thing.COPYING),
    "any_layer": True,
}
ASPECTS = Aspects(
    "sharing",
    trains(
        ("layer unshared", "a shared {kind} is two{inside}"),
        ("layer merged", "two layers are one{inside}"),
        turn=Turn.FIRST,
        **_PARTED,
    ),
    trains(
        ("weight unshared", "a shared weight of {a} is two{inside}"),
        ("weight merged", "two weights are one{inside}"),
        ("state unshared", "a shared state of {a} is two{inside}"),
        ("state merged", "two states are one{inside}"),
        **_PARTED,
    ),
    holdings.SHARING,
)


def sharing(pair: Pair) -> list[Difference]:
    """Layers, weights and states that were one object and are two, or were two and are one."""
    original, clone = pair.shapes
    layers = [
        _Held(layer.ident, at(original, index), place(original, index)) for index, layer in enumerate(original.layers)
    ]
    differences = list(_partings(layers, [layer.ident for layer in clone.layers], pair.layers, "layer"))
    for word, wants, haves, pairing in (
        ("weight", original.weights, clone.weights, pair.weights),
        ("state", original.states, clone.states, pair.states),
    ):
        held = [
            _Held(variable.ident, f"{word}s[{index}]", place(original, variable.owner))
            for index, variable in enumerate(wants)
        ]
        differences += _partings(held, [variable.ident for variable in haves], pairing, word)
    return [*differences, *holdings.parted(pair)]


def _partings(wants: Sequence[_Held], haves: Sequence[int], pairing: Pairing, word: str) -> Iterator[Difference]:
    first_want: dict[int, int] = {}
    first_have: dict[int, int] = {}
    for index, found in pairing.pairs:
        held = wants[index]
        want, have = first_want.setdefault(held.ident, index), first_have.setdefault(haves[found], index)
        if want == have:
            continue
        if want != index:
            # The object was met before; in the clone it is new, or another's.
            aspect, partner = f"{word} unshared", want
            expected, got = f"the same as {wants[partner].path}", "one of its own"
        else:
            aspect, partner = f"{word} merged", have
            expected, got = "one of its own", f"the same as {wants[partner].path}"
        yield ASPECTS.differs(aspect, held.path, expected, got, held.place)


CHECK = Check(ASPECTS, Stage.SHARING, sharing)
