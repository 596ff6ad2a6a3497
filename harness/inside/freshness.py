"""Whether a clone's weights are its own: freshly initialised, not the original's over again."""

from __future__ import annotations

from typing import Any

from .description import Description
from .digests import same
from .variable_values import VariableValues

MANY = 64
"""As many numbers as chance hardly draws twice, be they whole ones."""


def fresh(original: Description, kept: VariableValues, clone: Description) -> list[bool]:
    """For each weight of the clone, whether it begins with a value of its own.

    The original's weights were given values that no initializer draws: a weight that begins with one of those was
    copied. One that begins with the original's first value was copied too, where an initializer without a seed drew it.
    """
    verdict = []
    for number, first in enumerate(clone.initial):
        if number >= len(original.weights):
            verdict.append(True)
            continue
        ours = kept.values[number]
        copied = original.initial[number]
        if ours is not copied and same(first, ours) and not same(ours, copied):
            verdict.append(False)
        else:
            verdict.append(not (same(first, copied) and drawn_without_seed(original, number, first)))
    return verdict


def fresh_states(original: Description, clone: Description) -> list[bool]:
    """For each state of the clone, whether it is not the one that a run of the original has left: all begin with zeros.

    A seed that is further on says nothing: it may have been another from the start.
    """
    pairs = list(zip(original.first_states, clone.first_states))
    return [not (ours.dtype.kind == "f" and ours.any() and same(ours, theirs)) for ours, theirs in pairs]


def drawn_without_seed(description: Description, number: int, value: Any) -> bool:
    """Whether chance gave this weight its first value, by an initializer of its owner that has no seed."""
    if value.size < 2 or looks_set(value):
        return False  # such as the identity, which a layer may set while it is built
    if value.dtype.kind in "iu" and value.size < MANY:
        return False  # of a kernel that is quantized there are few: [[8], [7]] is drawn again by chance
    try:
        return initializer_of(description, number).get_config().get("seed", 0) is None
    except Exception:  # no initializer, or one that does not tell
        return False


def initializer_of(description: Description, number: int) -> Any:
    """The initializer that the owner of a weight has for it, None where none is seen."""
    weight = description.shape["weights"][number]
    if weight["owner"] < 0:
        return None
    layer = description.layers.places[weight["owner"]].layer
    name = weight["name"].split("/")[-1].split(":")[0]
    # That of "recurrent_kernel" is called "recurrent_initializer".
    of_it = getattr(layer, name + "_initializer", None)
    return of_it or getattr(layer, name.rpartition("_")[0] + "_initializer", None)


def looks_set(value: Any) -> bool:
    """Whether an array has fewer numbers than chance would give it."""
    few = value.reshape(-1)[:MANY].tolist()
    return len(set(few)) * 2 <= len(few) if len(few) > 1 else few in ([0], [1])
