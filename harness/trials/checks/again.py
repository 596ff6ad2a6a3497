"""9. Again: cloning twice, and cloning the clone, gives the same, and each clone has layers and weights of its own.

A clone has "newly instantiated weights", "instead of sharing the weights of the existing layers" (`clone_model`): so
two clones of one model share no weight with each other, and no state.

What is expected of the second clone, and of the clone's clone, comes from the original. What the first clone has wrong
already is not told again.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from clonediff.harness.subjects.observation import Clone, Shape, Variable
from clonediff.harness.trials.checks import masks, outputs, own, sharing, structure, weights
from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.checks.check import Check
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, in_common, place
from clonediff.harness.trials.checks.raised import raises
from clonediff.reports.records import Difference

_PARTS = (sharing.CHECK, structure.CHECK, weights.CHECK, own.CHECK)
_OF_RUNS = (outputs.CHECK, masks.CHECK)

Key = tuple[str, str]


def again(pair: Pair) -> list[Difference]:
    """What is wrong with a second clone and with the clone of the clone, and was not with the clone."""
    clone, original = pair.clone, pair.original
    others = (
        ("again", "a second clone", clone.again_failure, clone.again),
        ("twice", "a clone of the clone", clone.twice_failure, clone.twice),
    )
    told = {_key(each) for each in _all(pair)} if any(seen for *_, seen in others) else set()
    differences: list[Difference] = []
    for path, expected, failure, seen in others:
        if failure is not None:
            differences.append(raises("again", path, expected, failure, original.shape, aspect="no clone"))
        if seen is None:
            continue
        other = Clone(observation=seen, asked=clone.asked)
        found = [each for each in _all(Pair(original, other)) if _key(each) not in told]
        differences += (replace(each, check="again", path=f"{path}.{each.path}") for each in found)
        differences += _in_common(pair, seen.shape, path)
    return differences


def _in_common(pair: Pair, other: Shape, path: str) -> Iterator[Difference]:
    """What another clone has of the first one. What both have of the original is told of the first."""
    original, first = pair.shapes
    own = (original,) if pair.original.cloned is None else (original, pair.original.cloned)
    told = {thing.ident for shape in own for _, _, thing in in_common(shape, shape)}
    for word, index, thing in in_common(first, other):
        if thing.ident not in told:
            told.add(thing.ident)
            layer = pair.layers.expected.get(thing.owner if isinstance(thing, Variable) else index, -1)
            where = f"{path}.{at(original, layer) if word == 'layer' else f'{word}s[{index}]'}"
            sides = "one of its own", "the first clone's"
            yield differs("again", f"{word} shared by clones", where, *sides, place(original, layer))


def _all(pair: Pair) -> list[Difference]:
    here = [name for want, have, name in pair.runs if have is not None]
    in_runs = [one for each in _OF_RUNS for one in each.differences(pair)]
    at_rest = [one for each in _PARTS for one in each.differences(pair)]
    return at_rest + [one for one in in_runs if one.path.startswith(("layers", *here))]


def _key(difference: Difference) -> Key:
    return difference.path, difference.aspect


CHECK = Check("again", again, costly=True)
