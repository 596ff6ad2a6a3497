"""weights: the same number, order, names, shapes, dtypes and flags; equal after `set_weights`.

In Keras 3, a variable has a name and a path, which are compared separately.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from clonediff.harness.observation import Variable
from clonediff.harness.trials.checks.alignment import Alignment, Pair
from clonediff.harness.trials.checks.aspects import VARIABLES, Aspect, difference_of
from clonediff.harness.trials.checks.failures import failure_difference
from clonediff.harness.trials.checks.paths import path_and_place, place
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import CRASH, NAME, OUTPUT, TRAINING, Change, Difference, Part

_output = functools.partial(Aspect, "weights", "derived", OUTPUT)
_named = functools.partial(Aspect, "weights", "derived", NAME, VARIABLES)
VARIABLE_LOST = _output(VARIABLES, "missing", "a {part} of {a} is missing{inside}", "listed")
VARIABLE_ADDED = _output(VARIABLES, "extra", "{a} has one {part} more{inside}", "listed")
VARIABLE_ORDER = _output(VARIABLES, "order", "a model has its {part}s in another order{inside}", "listed", True)
_CONSTRAINT = "a {part} of {a} has another constraint or regularizer{inside}"
_FROZEN_TITLE = "a {frozen} {part} of {a} is {thawed}{inside}"
VARIABLE_FIELDS = (
    _output(VARIABLES, ("shape", "dtype"), "a {part} of {a} has another {change}{inside}", "listed"),
    Aspect("weights", "derived", TRAINING, VARIABLES, "trainable", _FROZEN_TITLE, "listed", True, topic="flag"),
    Aspect("weights", "derived", TRAINING, VARIABLES, "constraint", _CONSTRAINT, "listed"),
    _named(("scope", "path alone"), "a {part} of {a} has another path{inside}", "listed", True),
    _named(("name", "name alone"), "a {part} of {a} has another name{inside}", "listed", True),
)
STATE_VALUE = _output("state", "value", "a state of {a} begins with another value{inside}")
COPIED_VALUE = _output("copied", "value", "a weight of {a} does not keep the value that is copied into it{inside}")
_REFUSED_TITLE = "{clone} does not accept the weights of the original"
WEIGHTS_REFUSED = Aspect("weights", "derived", CRASH, "", "raises", _REFUSED_TITLE, exclusive=True)


def check_weights(pair: Pair) -> list[Difference]:
    return [
        *(item for objects in pair.variables for item in _compare_variables(pair, *objects)),
        *_compare_copied_weights(pair),
    ]


def _compare_variables(
    pair: Pair, part: Part, expected: Sequence[Variable], found: Sequence[Variable], alignment: Alignment
) -> Iterator[Difference]:
    original = pair.original.structure
    for index in alignment.missing:
        path, first = path_and_place(original, part, index)
        yield VARIABLE_LOST.difference(path, _describe(expected[index]), MISSING, first, part=part)
    for counterpart in alignment.extra:
        first = place(original, pair.layers.originals.get(found[counterpart].owner, -1))
        path = f"{part}s[+{counterpart}]"
        yield VARIABLE_ADDED.difference(path, MISSING, _describe(found[counterpart]), first, part=part)
    if alignment.moved_pairs:
        first = place(original, expected[alignment.moved_pairs[0][0]].owner)
        yield VARIABLE_ORDER.difference(f"{part}s", *alignment.orders, first, part=part)
    for index, counterpart in alignment.pairs:
        variable, copy = expected[index], found[counterpart]
        path, first = path_and_place(original, part, index)
        for field, change in _changed_fields(variable, copy):
            values = getattr(variable, field), getattr(copy, field)
            yield difference_of(VARIABLE_FIELDS, part, change, f"{path}.{field}", *values, first)
        if part == "state" and variable.value and copy.value and variable.value != copy.value:
            digests = variable.value, copy.value
            yield STATE_VALUE.difference(f"{path}.value", *digests, first, digests=digests)


def _changed_fields(expected: Variable, found: Variable) -> Iterator[tuple[str, Change]]:
    """Fields that differ; a name at the end of a path counts once."""
    has_names = bool(expected.short_name and found.short_name)
    is_renamed = has_names and expected.short_name != found.short_name
    ends_differently = expected.name.rpartition("/")[2] != found.name.rpartition("/")[2]
    if expected.name != found.name:
        yield "name", "scope" if not ends_differently else "path alone" if has_names and not is_renamed else "name"
    if is_renamed and not ends_differently:
        yield "short_name", "name alone"
    for change in ("shape", "dtype", "trainable", "constraint"):
        if getattr(expected, change) != getattr(found, change):
            yield change, change
    if expected.trainable_flag != found.trainable_flag and expected.trainable == found.trainable:
        yield "trainable_flag", "trainable"


def _compare_copied_weights(pair: Pair) -> Iterator[Difference]:
    original = pair.original.structure
    expected = pair.original.copied_weights
    found = pair.clone_observation.copied_weights
    if (failure := pair.clone_observation.copy_failure) is not None:
        yield failure_difference(WEIGHTS_REFUSED, "set_weights", "it accepts the weights", failure, original)
        return
    for index, digests in enumerate(zip(expected, found, strict=False)):
        if digests[0] != digests[1]:
            first = place(original, original.weights[index].owner if index < len(original.weights) else -1)
            yield COPIED_VALUE.difference(f"weights[{index}].copied", *digests, first, digests=digests)


def _describe(variable: Variable) -> str:
    return f"{variable.name} {variable.dtype}{list(variable.shape)}"
