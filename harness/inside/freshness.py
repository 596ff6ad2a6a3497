"""Whether a clone's weights are its own: freshly initialised, not the original's over again."""

from __future__ import annotations

from typing import Any

from .description import Description
from .digests import same
from .variable_values import VariableValues

MANY = 64
"""As many numbers as chance hardly draws twice, be they whole ones."""


def fresh(original: Description, kept: VariableValues, clone: Description, repeats: bool) -> list[bool]:
    """For each weight of the clone, whether it begins with a value of its own.

    The original's weights were given values that no initializer draws: a weight that begins with one of those was
    copied. One that begins with the original's first value may have a seed, or was copied too: another build of the
    source `repeats` it then, if there is one.
    """
    verdict = [True] * len(clone.initial)
    for number, (first, copied) in enumerate(zip(clone.initial, original.initial)):
        ours = kept.values[number]
        if ours is not copied and same(first, ours) and not same(ours, copied):
            verdict[number] = False
        elif repeats and same(first, copied) and _looks_drawn(first):
            verdict[number] = False
    return verdict


def fresh_states(original: Description, clone: Description) -> list[bool]:
    """For each state of the clone, whether it is not the one that a run of the original has left: all begin with zeros.

    A seed that is further on says nothing: it may have been another from the start.
    """
    pairs = list(zip(original.first_states, clone.first_states))
    return [not (ours.dtype.kind == "f" and ours.any() and same(ours, theirs)) for ours, theirs in pairs]


def _looks_drawn(value: Any) -> bool:
    """Whether an array has many numbers that differ; of a kernel that is quantized there are few."""
    if value.size < 2 or (value.dtype.kind in "iu" and value.size < MANY):
        return False
    few = value.reshape(-1)[:MANY].tolist()
    return len(set(few)) * 2 > len(few)
