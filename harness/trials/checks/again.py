"""9. Again: cloning twice, and cloning the clone, gives the same, and each clone has layers and weights of its own.

A clone has "newly instantiated weights", "instead of sharing the weights of the existing layers" (`clone_model`): so
two clones of one model share no weight with each other, and no state.

What is expected of the second clone, and of the clone's clone, comes from the original; of the clone of the clone that
was saved and loaded, from the original that was saved and loaded. What the first clone has wrong already is not told
again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from clonediff.harness.subjects.observation import Clone, LayerSeen, Observation, Shape, Variable
from clonediff.harness.trials.checks import masks, outputs, own, sharing, structure, weights
from clonediff.harness.trials.checks.check import Aspects, Check, Reach, Stage, crashes, trains
from clonediff.harness.trials.checks.pairing import Pair, pair_layers
from clonediff.harness.trials.checks.places import at, place
from clonediff.harness.trials.checks.raised import raises
from clonediff.reports.records import Difference

_PARTS = (sharing.CHECK, structure.CHECK, weights.CHECK, own.CHECK)
_OF_RUNS = (outputs.CHECK, masks.CHECK)

_ASPECTS = Aspects(
    "again",
    trains(
        ("layer shared by clones", "{clone} holds {a} of the first clone itself"),
        ("weight shared by clones", "{clone} shares a weight of {a} with the first clone"),
        ("state shared by clones", "{clone} shares a state of {a} with the first clone"),
        reach=Reach.BEHAVIOUR,
        any_layer=True,
    ),
    crashes(("raises", "a second clone cannot be made"), path="again"),
    crashes(("raises", "the clone cannot be cloned"), path="twice"),
    crashes(("raises", "the clone cannot be cloned once it is saved and loaded"), path="loaded"),
    *(each.aspects.not_compared() for each in (*_PARTS, *_OF_RUNS)),
)

Key = tuple[str, str]


def again(pair: Pair) -> list[Difference]:
    """What is wrong with a second clone and with the clone of the clone, and was not with the clone."""
    clone, original = pair.clone, pair.original
    asked = (clone.again_failure, clone.twice_failure, clone.loaded_failure, clone.again, clone.twice, clone.loaded)
    if all(each is None for each in asked):
        return []
    told = {_key(difference) for difference in _all(pair)}
    differences: list[Difference] = []
    for path, failure, expected in (
        ("again", clone.again_failure, "a second clone"),
        ("twice", clone.twice_failure, "a clone of the clone"),
        ("loaded", clone.loaded_failure, "a clone of the clone, saved and loaded"),
    ):
        if failure is not None:
            differences.append(raises(_ASPECTS, path, expected, failure, original.shape))
    if clone.again is not None:
        second = Observation(shape=clone.again, copied_weights=original.copied_weights)
        differences += _new(Pair(original, Clone(observation=second)), told, "again", runs=False)
        differences += _in_common(pair, clone.again, "again")
    if clone.twice is not None:
        differences += _new(Pair(original, Clone(observation=clone.twice)), told, "twice", runs=True)
        differences += _in_common(pair, clone.twice.shape, "twice")
    if clone.loaded is not None and original.loaded is not None:
        found = _all(Pair(original.loaded, Clone(observation=clone.loaded)))
        if found:  # what the original has itself, such as a name that its file does not tell, is lost by no cloner
            beside = {_key(each) for each in _all(Pair(original, Clone(observation=clone.loaded)))}
            found = [each for each in found if _key(each) in beside - told]
        differences += (_placed_in(original, original.loaded, _told_of(each, "loaded")) for each in found)
        differences += _in_common(pair, clone.loaded.shape, "loaded")
    return differences


def _placed_in(original: Observation, loaded: Observation, difference: Difference) -> Difference:
    """A difference at a place of the loaded original, at that of the original itself."""
    first = difference.first
    if first is None or first.layer < 0:
        return difference
    layer = pair_layers(original.shape, loaded.shape).expected.get(first.layer, -1)
    return replace(difference, first=place(original.shape, layer, first.use))


def _in_common(pair: Pair, other: Shape, path: str) -> Iterator[Difference]:
    """What another clone has of the first one. What both have of the original is told of the first."""
    original, first = pair.shapes
    own = (original,) if pair.original.cloned is None else (original, pair.original.cloned)
    told = {thing.ident for shape in own for _, things in _objects(shape) for thing in things}
    for (word, things), (_, others) in zip(_objects(first), _objects(other), strict=True):
        its = {thing.ident for thing in others}
        for index, thing in enumerate(things):
            if thing.ident not in its or thing.ident in told:
                continue
            told.add(thing.ident)
            layer = pair.layers.expected.get(thing.owner if isinstance(thing, Variable) else index, -1)
            where = f"{path}.{at(original, layer) if word == 'layer' else f'{word}s[{index}]'}"
            sides = f"a {word} of its own", "the first clone's"
            yield _ASPECTS.differs(f"{word} shared by clones", where, *sides, place(original, layer))


def _objects(shape: Shape) -> tuple[tuple[str, Sequence[LayerSeen | Variable]], ...]:
    return ("layer", shape.layers), ("weight", shape.weights), ("state", shape.states)


def _new(pair: Pair, told: Collection[Key], path: str, *, runs: bool) -> list[Difference]:
    return [_told_of(each, path) for each in _all(pair, runs=runs) if _key(each) not in told]


def _told_of(difference: Difference, path: str) -> Difference:
    return replace(difference, check="again", path=f"{path}.{difference.path}")


def _all(pair: Pair, *, runs: bool = True) -> list[Difference]:
    at_rest = [one for each in _PARTS for one in each.differences(pair)]
    if not runs:
        return at_rest
    here = [name for name in ("inference", "training") if getattr(pair.observed, name) is not None]
    in_runs = [one for each in _OF_RUNS for one in each.differences(pair)]
    return at_rest + [one for one in in_runs if one.path.startswith(("layers", *here))]


def _key(difference: Difference) -> Key:
    return difference.path, difference.aspect


CHECK = Check(_ASPECTS, Stage.AGAIN, again, part="again")
