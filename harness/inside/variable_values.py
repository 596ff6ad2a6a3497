"""The values of a model's variables: put back after a run, copied into a clone, and whether a clone's are its own."""

from __future__ import annotations

from typing import Any

from .description import Description
from .digests import same
from .observer import Observer
from .values import weight_arrays

_MANY = 64
"""As many numbers as chance hardly draws twice, be they whole ones."""


class VariableValues:
    """Variables of a model, and the value that each is to have, so that no run depends on the one before it."""

    def __init__(self, observer: Observer) -> None:
        self._framework = observer.framework
        self.variables: list[Any] = []
        self.values: list[Any] = []

    def keep(self, variable: Any, value: Any) -> None:
        self.variables.append(variable)
        self.values.append(value)

    def restore(self) -> list[int]:
        """Put back what has changed; the numbers of the variables that had."""
        read, changed = self._framework.read, []
        for number, (variable, value) in enumerate(zip(self.variables, self.values, strict=False)):
            if not same(read(variable), value):
                changed.append(number)
                self._framework.write(variable, value)
        return changed

    def change(self) -> None:
        """Give each variable that holds numbers others than it is to have."""
        for variable, value in zip(self.variables, self.values, strict=False):
            if value.dtype.kind not in "OSU":
                other = ~value if value.dtype.kind == "b" else (value * 0.5 + 1.0).astype(value.dtype)
                self._framework.write(variable, other)


def randomize(description: Description, observer: Observer) -> VariableValues:
    """Give every float weight a value that neither initializers nor chance would give it twice."""
    framework, values = observer.framework, VariableValues(observer)
    # The shape of what it holds: a variable's own may leave a dimension open.
    weights = zip(description.shape.weights, description.initial, strict=False)
    shapes = [(weight.name.lower(), first.shape, weight.dtype) for weight, first in weights]
    arrays = weight_arrays(shapes, observer.seed)
    for weight, array, first in zip(description.weights, arrays, description.initial, strict=False):
        if array is None or None in list(weight.shape):  # of an open shape is a summary of what was learned
            values.keep(weight, first)
            continue
        framework.write(weight, array)
        values.keep(weight, array if array.dtype == first.dtype else framework.read(weight))
    framework.weights_written(description.model)
    for state, first in zip(description.states, description.first_states, strict=False):
        values.keep(state, first)
    return values


def copy(
    original: Description, values: VariableValues, clone: Description, observer: Observer
) -> tuple[VariableValues, str]:
    """Give a clone the weights and the states of the original; the clone's values, and why it could not be done."""
    framework, copied = observer.framework, VariableValues(observer)
    counts = len(original.weights), len(clone.weights)
    problem = "" if counts[0] == counts[1] else f"the original has {counts[0]} weights, the clone {counts[1]}"
    weights, states = values.values[: counts[0]], values.values[counts[0] :]
    for number, (variable, value) in enumerate(zip(clone.weights, clone.initial, strict=False)):
        if number < counts[0]:
            if weights[number].shape == value.shape or _takes(variable, weights[number]):
                framework.write(variable, weights[number])
                value = weights[number] if weights[number].dtype == value.dtype else framework.read(variable)
            else:
                shapes = f"has shape {weights[number].shape} in the original, {value.shape} in the clone"
                problem = problem or f"weight {number} {shapes}"
        copied.keep(variable, value)
    if not problem:
        framework.weights_written(clone.model, original.model)
    ours, theirs = ([(value.shape, value.dtype) for value in values] for values in (states, clone.first_states))
    states = states if ours == theirs else clone.first_states
    for variable, first, value in zip(clone.states, clone.first_states, states, strict=False):
        if not same(value, first):
            framework.write(variable, value)
        copied.keep(variable, value)
    return copied, problem


def _takes(variable: Any, value: Any) -> bool:
    """Whether a variable whose shape leaves dimensions open takes a value, whatever it holds now."""
    shape = list(variable.shape)
    return len(shape) == value.ndim and all(
        size in (None, have) for size, have in zip(shape, value.shape, strict=False)
    )


# -- whether a clone's values are its own


def fresh(original: Description, values: VariableValues, clone: Description, repeats: bool) -> tuple[bool, ...]:
    """For each weight of the clone, whether it begins with a value of its own.

    The original's weights were given values that no initializer draws: a weight that begins with one of those was
    copied. One that begins with the original's first value may have a seed, or was copied too: another build of the
    source `repeats` it then, if there is one.
    """

    def is_fresh(first: Any, of_original: Any, value: Any) -> bool:
        if value is not of_original and same(first, value) and not same(value, of_original):
            return False
        return not (repeats and same(first, of_original) and _looks_drawn(first))

    more = len(clone.initial) - len(original.initial)
    return (*map(is_fresh, clone.initial, original.initial, values.values), *[True] * more)


def _looks_drawn(value: Any) -> bool:
    """Whether an array has many numbers that differ; of a kernel that is quantized there are few."""
    if value.size < 2 or (value.dtype.kind in "iu" and value.size < _MANY):
        return False
    few = value.reshape(-1)[:_MANY].tolist()
    return len(set(few)) * 2 > len(few)
