"""The catalogue: every kind of layer and operation that a graph can hold.

An entry lives in the module of its family; a new one is picked up from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from strategies.kinds import attention, convolution, core, custom, lambdas, merging, noise, operations, recurrent
from strategies.kinds.keras2 import catalogue_of
from strategies.kinds.kind import (
    LEFT_OUT,
    NO_SENSE,
    Generation,
    Kind,
    Spec,
    Specs,
    fill,
    less,
    more_masks,
    same_weights,
)

_FAMILIES = (lambdas, core, merging, custom, recurrent, noise, attention, operations, convolution)

CATALOGUE: Mapping[str, Kind] = {
    kind.name: replace(kind, family=family.__name__.rpartition(".")[2]) for family in _FAMILIES for kind in family.KINDS
}
"""Every kind by its name, the simplest family first."""

_KERAS2 = catalogue_of(CATALOGUE)


def catalogue(generation: Generation | None) -> Mapping[str, Kind]:
    """The kinds that a generation has, as it has them; what differs between Keras 3 and `tf_keras` stands in `only`."""
    return _KERAS2 if generation == "keras2" else CATALOGUE


__all__ = [
    "CATALOGUE",
    "LEFT_OUT",
    "NO_SENSE",
    "Generation",
    "Kind",
    "Spec",
    "Specs",
    "catalogue",
    "fill",
    "less",
    "more_masks",
    "same_weights",
]
