"""The catalogue: every kind of layer and operation that a graph can hold.

An entry lives in the module of its family; a new one is picked up from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from strategies.kinds import (
    attention,
    conv_lstm,
    convolution,
    core,
    custom,
    encoding,
    images,
    lambdas,
    merging,
    noise,
    operations,
    recurrent,
    signals,
    wrappers,
)
from strategies.kinds.keras2 import catalogue_of
from strategies.kinds.kind import (
    GENERATIONS,
    LEFT_OUT,
    NO_SENSE,
    Generation,
    Kind,
    Spec,
    Specs,
    fill,
    less,
    masked_by_call,
    more_masks,
    none_told_sparse,
    same_weights,
)
from strategies.kinds.ragged import on_ragged

_FAMILIES = (
    lambdas,
    core,
    merging,
    custom,
    recurrent,
    noise,
    attention,
    operations,
    convolution,
    conv_lstm,
    wrappers,
    encoding,
    signals,
    images,
)

_WIDE = (convolution, conv_lstm, encoding, signals, images)
"""Families of many kinds that are cloned alike: each of theirs is drawn half as often as another one."""

_TRACED = (custom,)
"""Families whose shapes Keras 3 finds out by calling them."""


CATALOGUE: Mapping[str, Kind] = {
    kind.name: replace(
        kind,
        family=family.__name__.rpartition(".")[2],
        weight=kind.weight if family in _WIDE else 2 * kind.weight,
        fits=none_told_sparse(kind.fits) if family in _TRACED else kind.fits,
    )
    for family in _FAMILIES
    for kind in family.KINDS
}
"""Every kind by its name, the simplest family first."""

_OF_GENERATION: Mapping[Generation, Mapping[str, Kind]] = {
    "keras": on_ragged(CATALOGUE, "keras"),
    "tf_keras": on_ragged(CATALOGUE, "tf_keras"),
    "keras2": catalogue_of(CATALOGUE),
}


def catalogue(generation: Generation | None) -> Mapping[str, Kind]:
    """The kinds that a generation has, as it has them.

    Between Keras 3 and `tf_keras` those differ that stand in `only`, and what is called on ragged tensors.
    """
    return CATALOGUE if generation is None else _OF_GENERATION[generation]


__all__ = [
    "CATALOGUE",
    "GENERATIONS",
    "LEFT_OUT",
    "NO_SENSE",
    "Generation",
    "Kind",
    "Spec",
    "Specs",
    "catalogue",
    "fill",
    "less",
    "masked_by_call",
    "more_masks",
    "same_weights",
]
