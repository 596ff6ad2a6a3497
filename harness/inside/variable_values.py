"""A model's variables put back after each run, so that no run depends on the one before it."""

from __future__ import annotations

from typing import Any

from .description import Description
from .digests import same
from .observer import Observer
from .values import weight_arrays


class VariableValues:
    """Variables of a model, and the value that each is to have."""

    def __init__(self, observer: Observer) -> None:
        self._framework = observer.framework
        self.variables: list[Any] = []
        self.values: list[Any] = []

    def keep(self, variable: Any, value: Any) -> None:
        """From now on this variable has this value."""
        self.variables.append(variable)
        self.values.append(value)

    def restore(self) -> list[int]:
        """Put back what has changed; the numbers of the variables that had."""
        read, changed = self._framework.read, []
        for number, (variable, value) in enumerate(zip(self.variables, self.values)):
            now = read(variable)
            if not same(now, value):
                changed.append(number)
                self._framework.write(variable, value)
        return changed


def randomize(description: Description, observer: Observer) -> VariableValues:
    """Give every float weight a value that neither initializers nor chance would give it twice."""
    framework = observer.framework
    # The shape of what it holds: a variable's own may leave a dimension open.
    shapes = [
        (weight["name"].lower(), first.shape, weight["dtype"])
        for weight, first in zip(description.shape["weights"], description.initial)
    ]
    arrays = weight_arrays(shapes, observer.seed)
    kept = VariableValues(observer)
    for weight, array, first in zip(description.weights, arrays, description.initial):
        if array is None or None in list(weight.shape):  # of an open shape is a summary of what was learned
            kept.keep(weight, first)
            continue
        framework.write(weight, array)
        kept.keep(weight, array if array.dtype == first.dtype else framework.read(weight))
    framework.weights_written(description.model)
    for state, first in zip(description.states, description.first_states):
        kept.keep(state, first)
    return kept


def copy(
    original: Description, kept: VariableValues, clone: Description, observer: Observer
) -> tuple[VariableValues, str]:
    """Give a clone the weights and the states of the original; what the clone keeps, and why it could not be done."""
    framework = observer.framework
    ours = VariableValues(observer)
    counts = len(original.weights), len(clone.weights)
    problem = "" if counts[0] == counts[1] else "the original has %d weights, the clone %d" % counts
    for number, (variable, first) in enumerate(zip(clone.weights, clone.initial)):
        value = kept.values[number] if number < counts[0] else None
        if value is None:
            value = first
        elif value.shape != first.shape and not _takes(variable, value):
            problem = problem or "weight %d has shape %s in the original, %s in the clone" % (
                number,
                value.shape,
                first.shape,
            )
            value = first
        else:
            framework.write(variable, value)
            if value.dtype != first.dtype:
                value = framework.read(variable)
        ours.keep(variable, value)
    if not problem:
        framework.weights_written(clone.model, original.model)
    _copy_states(kept.values[counts[0] :], clone, ours, observer)
    return ours, problem


def _copy_states(states: list[Any], clone: Description, ours: VariableValues, observer: Observer) -> None:
    """Give a clone these states, where they are alike."""
    alike = [(value.shape, value.dtype) for value in states] == [
        (value.shape, value.dtype) for value in clone.first_states
    ]
    for number, (variable, first) in enumerate(zip(clone.states, clone.first_states)):
        if alike and not same(states[number], first):
            observer.framework.write(variable, states[number])
        ours.keep(variable, states[number] if alike else first)


def _takes(variable: Any, value: Any) -> bool:
    """Whether a variable whose shape leaves dimensions open takes a value, whatever it holds now."""
    shape = list(variable.shape)
    return len(shape) == value.ndim and all(size in (None, have) for size, have in zip(shape, value.shape))
