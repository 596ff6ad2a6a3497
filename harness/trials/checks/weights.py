"""weights: the same number, order, names, shapes, dtypes and flags, after `set_weights` the same values.

What a file or a pickle gives has the values without that.

In Keras 3 a variable has a name and a path, each kept by itself: "name: The name of the variable (string). path: The
path of the variable within the Keras model or layer (string)." (`keras.Variable`)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonediff.harness.observation import Variable
from clonediff.harness.trials.checks.aspects import differs, differs_in_value
from clonediff.harness.trials.checks.made import raises
from clonediff.harness.trials.checks.pairing import Pair, Pairing
from clonediff.harness.trials.checks.places import numbered, place
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Difference


def weights(pair: Pair) -> list[Difference]:
    """Weights and states at rest, then what copying the original's weights into the clone came to."""
    return [*(difference for objects in pair.variables for difference in _variables(pair, *objects)), *_copied(pair)]


def _variables(
    pair: Pair, word: str, wants: Sequence[Variable], haves: Sequence[Variable], pairing: Pairing
) -> Iterator[Difference]:
    shape = pair.original.shape
    for index in pairing.missing:
        path, first = numbered(shape, word, index)
        yield differs("weights", f"{word} missing", path, _said(wants[index]), MISSING, first)
    for counterpart in pairing.extra:
        first = place(shape, pair.layers.originals.get(haves[counterpart].owner, -1))
        yield differs("weights", f"{word} extra", f"{word}s[+{counterpart}]", MISSING, _said(haves[counterpart]), first)
    if pairing.moved:
        first = place(shape, wants[pairing.moved[0][0]].owner)
        yield differs("weights", f"{word} order", f"{word}s", *pairing.orders, first)
    for index, counterpart in pairing.pairs:
        want, have = wants[index], haves[counterpart]
        path, first = numbered(shape, word, index)
        for part, aspect in _names(want, have):
            sides = getattr(want, part), getattr(have, part)
            yield differs("weights", f"{word} {aspect}", f"{path}.{part}", *sides, first)
        if word == "state" and want.value and have.value and want.value != have.value:
            yield differs_in_value("weights", "state value", f"{path}.value", want.value, have.value, first)


def _names(want: Variable, have: Variable) -> Iterator[tuple[str, str]]:
    """Each field in which two variables differ, with the aspect.

    A name and the last part of a path change together as a rule. What stands before that is of what was being built.
    """
    known = bool(want.short_name and have.short_name)
    renamed = known and want.short_name != have.short_name
    moved = want.name.rpartition("/")[2] != have.name.rpartition("/")[2]
    if want.name != have.name:
        yield "name", "scope" if not moved else "path alone" if known and not renamed else "name"
    if renamed and not moved:
        yield "short_name", "name alone"
    for field in ("shape", "dtype", "trainable"):
        if getattr(want, field) != getattr(have, field):
            yield field, field


def _copied(pair: Pair) -> Iterator[Difference]:
    """What the clone begins with where it is to have the original's values, then weights copied by position."""
    wants, shape = pair.original.copied_weights, pair.original.shape
    brought, haves = pair.observed.brought or (), pair.observed.copied_weights
    for index, counterpart in pair.weights.pairs if brought else ():
        if wants[index] != brought[counterpart]:
            path, first = numbered(shape, "weight", index)
            sides = wants[index], brought[counterpart]
            yield differs_in_value("weights", "value not kept", f"{path}.brought", *sides, first)
    if pair.observed.copied is not None:
        yield raises("weights", "set_weights", "it takes the weights", pair.observed.copied, shape)
        return
    for index, (want, have) in enumerate(zip(wants, haves, strict=False)):
        if want != have:
            first = place(shape, shape.weights[index].owner if index < len(shape.weights) else -1)
            yield differs_in_value("weights", "copied value", f"weights[{index}].copied", want, have, first)


def _said(variable: Variable) -> str:
    return f"{variable.name} {variable.dtype}{list(variable.shape)}"
