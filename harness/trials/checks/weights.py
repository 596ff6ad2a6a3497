"""2. Weights: the same number, order, names, shapes, dtypes and flags, after `set_weights` the same values.

What a file or a pickle gives has the values without that.

In Keras 3 a variable has a name and a path, each kept by itself: "name: The name of the variable (string). path: The
path of the variable within the Keras model or layer (string)." (`keras.Variable`)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonediff.harness.subjects.observation import Variable
from clonediff.harness.trials.checks.aspects import differs, differs_in_value
from clonediff.harness.trials.checks.check import Check
from clonediff.harness.trials.checks.pairing import Pair, Pairing
from clonediff.harness.trials.checks.places import numbered, place, short
from clonediff.harness.trials.checks.raised import raises
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Difference


def weights(pair: Pair) -> list[Difference]:
    """Weights and states at rest, then what copying the original's weights into the clone came to."""
    at_rest = [*(one for each in pair.variables for one in _variables(pair, *each)), *_brought(pair)]
    refused = pair.observed.copied
    if refused is None:
        return [*at_rest, *_copied(pair)]
    return [*at_rest, raises("weights", "set_weights", "it takes the weights", refused, pair.original.shape)]


def _variables(
    pair: Pair, word: str, wants: Sequence[Variable], haves: Sequence[Variable], pairing: Pairing
) -> Iterator[Difference]:
    shape = pair.original.shape
    for index in pairing.missing:
        path, first = numbered(shape, word, index)
        yield differs("weights", f"{word} missing", path, _said(wants[index]), MISSING, first)
    for found in pairing.extra:
        first = place(shape, pair.layers.expected.get(haves[found].owner, -1))
        yield differs("weights", f"{word} extra", f"{word}s[+{found}]", MISSING, _said(haves[found]), first)
    if pairing.moved:
        first = place(shape, wants[pairing.moved[0][0]].owner)
        expected, got = map(short, pairing.orders)
        yield differs("weights", f"{word} order", f"{word}s", expected, got, first)
    for index, found in pairing.pairs:
        want, have = wants[index], haves[found]
        path, first = numbered(shape, word, index)
        for part, aspect, its, other in _names(pair, want, have):
            yield differs("weights", f"{word} {aspect}", f"{path}.{part}", its, other, first)
        for aspect in ("shape", "dtype", "trainable"):
            its, other = getattr(want, aspect), getattr(have, aspect)
            if its != other:
                yield differs("weights", f"{word} {aspect}", f"{path}.{aspect}", short(its), short(other), first)
        if word == "state" and want.value and have.value and want.value != have.value:
            yield differs_in_value("weights", "state value", f"{path}.value", want.value, have.value, first)


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


def _brought(pair: Pair) -> Iterator[Difference]:
    """What a clone begins with that is to bring the original's values, such as one from a file."""
    wants, haves = pair.original.copied_weights, pair.observed.brought or ()
    for index, found in pair.weights.pairs if haves else ():
        digests = wants[index], haves[found]
        if digests[0] != digests[1]:
            path, first = numbered(pair.original.shape, "weight", index)
            yield differs_in_value("weights", "value not kept", f"{path}.brought", *digests, first)


def _copied(pair: Pair) -> Iterator[Difference]:
    """Weights are copied by position, as a user copies them."""
    wants, haves = pair.original.copied_weights, pair.observed.copied_weights
    shape = pair.original.shape
    for index, (want, have) in enumerate(zip(wants, haves, strict=False)):
        if want != have:
            owner = shape.weights[index].owner if index < len(shape.weights) else -1
            yield differs_in_value(
                "weights", "copied value", f"weights[{index}].copied", want, have, place(shape, owner)
            )
    if len(wants) != len(haves) and len(shape.weights) == len(pair.shapes[1].weights):
        yield differs("weights", "copied count", "copied_weights", str(len(wants)), str(len(haves)), place(shape, -1))


def _said(variable: Variable) -> str:
    return f"{variable.name} {variable.dtype}{list(variable.shape)}"


CHECK = Check("weights", weights)
