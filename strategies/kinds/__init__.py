"""The catalogue: every kind of layer and operation that something is to be said of.

An entry lives in the table of its family; `kinds_of` in `of_release` completes it by the signatures of a release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from clonediff.strategies.kinds import custom, lambdas, layers, recurrent
from clonediff.strategies.kinds.kind import (
    DTYPES,
    GENERATIONS,
    LEFT_OUT,
    NO_SENSE,
    Generation,
    Kind,
    Spec,
    Specs,
    less,
)

_FAMILIES: Mapping[str, tuple[Kind, ...]] = {
    "lambdas": lambdas.KINDS,
    **layers.BEFORE,
    "custom": custom.KINDS,
    "recurrent": recurrent.KINDS,
    **layers.AFTER,
}

_WIDE = ("convolution", "conv_lstm", "encoding", "signals", "images")
"""Families of many kinds that are cloned alike: each of theirs is drawn half as often as another one."""

CATALOGUE: Mapping[str, Kind] = {
    kind.name: replace(kind, family=family, weight=kind.weight if family in _WIDE else 2 * kind.weight)
    for family, kinds in _FAMILIES.items()
    for kind in kinds
}
"""Every kind by its name, the simplest family first."""


__all__ = [
    "CATALOGUE",
    "DTYPES",
    "GENERATIONS",
    "LEFT_OUT",
    "NO_SENSE",
    "Generation",
    "Kind",
    "Spec",
    "Specs",
    "less",
]
