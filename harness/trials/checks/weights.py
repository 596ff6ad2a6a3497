"""2. Weights: the same number, order, names, shapes, dtypes and flags, after `set_weights` the same values.

What a file or a pickle gives has the values without that.

In Keras 3 a variable has a name and a path, each kept by itself: "name: The name of the variable (string). path: The
path of the variable within the Keras model or layer (string)." (`keras.Variable`)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonediff.harness.subjects.observation import Observation, Variable
from clonediff.harness.trials.checks.pairing import Pair, Pairing
from clonediff.harness.trials.checks.places import place, short
from clonediff.harness.trials.checks.raised import raises
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Cost, Difference


def weights(pair: Pair) -> list[Difference]:
    """Weights and states at rest, then what copying the original's weights into the clone came to."""
    if pair.observed is None:
        return []
    original, clone = pair.shapes
    differences = [
        *_variables(pair, "weight", original.weights, clone.weights, pair.weights),
        *_variables(pair, "state", original.states, clone.states, pair.states),
    ]
    differences += _brought(pair, pair.observed)
    if pair.observed.copied is not None:
        differences.append(raises("weights", "set_weights", "it takes the weights", pair.observed.copied, original))
    else:
        differences += _copied(pair, pair.observed)
    return differences


def _variables(
    pair: Pair, word: str, wants: Sequence[Variable], haves: Sequence[Variable], pairing: Pairing
) -> Iterator[Difference]:
    shape = pair.original.shape
    if pairing.missing or pairing.extra:
        yield from _count(pair, word, wants, haves, pairing)
    moved = pairing.moved
    if moved:
        first = place(shape, wants[moved[0][0]].owner)
        order = [found for _, found in pairing.pairs]
        yield Difference(
            "weights", f"{word}s", f"{word} order", short(sorted(order)), short(order), Cost.COMPUTES, first
        )
    for index, found in pairing.pairs:
        want, have = wants[index], haves[found]
        first = place(shape, want.owner)
        for part, aspect, its, other in _names(pair, want, have):
            yield Difference("weights", f"{word}s[{index}].{part}", f"{word} {aspect}", its, other, Cost.NAME, first)
        for aspect, expected, got, cost in (
            ("shape", want.shape, have.shape, Cost.COMPUTES),
            ("dtype", want.dtype, have.dtype, Cost.COMPUTES),
            ("trainable", want.trainable, have.trainable, Cost.TRAINS),
        ):
            if expected != got:
                path = f"{word}s[{index}].{aspect}"
                yield Difference("weights", path, f"{word} {aspect}", short(expected), short(got), cost, first)
        if word == "state" and want.value and have.value and want.value != have.value:
            digests = (want.value, have.value)
            yield Difference(
                "weights", f"states[{index}].value", "state value", *digests, Cost.COMPUTES, first, digests=digests
            )


def _names(pair: Pair, want: Variable, have: Variable) -> Iterator[tuple[str, str, str, str]]:
    """What differs of a name: where, the aspect, and both texts.

    A name and the last part of a path change together as a rule. What stands before that is of what was being built.
    """
    known = bool(want.short_name and have.short_name)
    paths, shorts = pair.paths(want.name, have.name), pair.paths(want.short_name, have.short_name)
    renamed = known and shorts[0] != shorts[1]
    moved = paths[0].rpartition("/")[2] != paths[1].rpartition("/")[2]
    if paths[0] != paths[1]:
        aspect = "scope" if not moved else "path alone" if known and not renamed else "name"
        yield "name", aspect, short(want.name), short(have.name)
    if renamed and not moved:
        yield "short_name", "name alone", short(want.short_name), short(have.short_name)


def _count(
    pair: Pair, word: str, wants: Sequence[Variable], haves: Sequence[Variable], pairing: Pairing
) -> Iterator[Difference]:
    shape = pair.original.shape
    for index in pairing.missing:
        path, first = f"{word}s[{index}]", place(shape, wants[index].owner)
        yield Difference("weights", path, f"{word} missing", _said(wants[index]), MISSING, Cost.COMPUTES, first)
    for found in pairing.extra:
        first = place(shape, pair.layers.expected.get(haves[found].owner, -1))
        path = f"{word}s[+{found}]"
        yield Difference("weights", path, f"{word} extra", MISSING, _said(haves[found]), Cost.COMPUTES, first)


def _brought(pair: Pair, observed: Observation) -> Iterator[Difference]:
    """What a clone begins with that is to bring the original's values, such as one from a file."""
    if observed.brought is None:
        return
    wants, haves = pair.original.copied_weights, observed.brought
    for index, found in pair.weights.pairs:
        digests = wants[index], haves[found]
        if digests[0] != digests[1]:
            first = place(pair.original.shape, pair.original.shape.weights[index].owner)
            path = f"weights[{index}].brought"
            yield Difference("weights", path, "value not kept", *digests, Cost.COMPUTES, first, digests=digests)


def _copied(pair: Pair, observed: Observation) -> Iterator[Difference]:
    """Weights are copied by position, as a user copies them."""
    wants, haves = pair.original.copied_weights, observed.copied_weights
    shape = pair.original.shape
    for index, (want, have) in enumerate(zip(wants, haves, strict=False)):
        if want != have:
            owner = shape.weights[index].owner if index < len(shape.weights) else -1
            yield Difference(
                "weights",
                f"weights[{index}].copied",
                "copied value",
                want,
                have,
                Cost.COMPUTES,
                place(shape, owner),
                digests=(want, have),
            )
    if len(wants) != len(haves) and len(shape.weights) == len(pair.shapes[1].weights):
        yield Difference(
            "weights",
            "copied_weights",
            "copied count",
            str(len(wants)),
            str(len(haves)),
            Cost.COMPUTES,
            place(shape, -1),
        )


def _said(variable: Variable) -> str:
    return f"{variable.name} {variable.dtype}{list(variable.shape)}"
