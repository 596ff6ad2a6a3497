"""Layers that take several tensors and give one."""

from __future__ import annotations

from collections.abc import Mapping

from strategies.graph import Layer, Value
from strategies.kinds.kind import LEFT_OUT, Kind, Spec, Specs, alike, computed, floats, same


def _joined(specs: Specs, layer: Layer) -> Specs | None:
    """Concatenated along `axis`, the last one or the first after the batch.

    Along the first only tensors without a mask: `tf_keras` cannot put a mask and a missing one in a row.
    """
    first = specs[0].shape
    axis = layer.arg("axis", -1)
    place = len(first) - 1 if axis == -1 else 0
    sizes = [spec.shape[place] for spec in specs]
    others = {(*spec.shape[:place], *spec.shape[place + 1 :]) for spec in specs}
    if place == 0 and len(first) > 1 and any(spec.mask for spec in specs):
        return None
    if place >= len(first) or any(size is None for size in sizes) or len(others) > 1:
        return None
    total = sum(size for size in sizes if size is not None)
    return (Spec((*first[:place], total, *first[place + 1 :]), computed(layer), any(spec.mask for spec in specs)),)


def _axis(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value] | None:
    if specs[0].rank == 1 or None in specs[0].shape:
        return {**drawn, "axis": LEFT_OUT}
    return dict(drawn)


def _joinable(specs: Specs) -> bool:
    return floats(1, 3)(specs) and all(
        spec.shape[:-1] == specs[0].shape[:-1] and spec.dtype == specs[0].dtype for spec in specs
    )


def _dotted(specs: Specs, layer: Layer) -> Specs:
    return (Spec((1,), computed(layer)),)


def _merge(name: str, most: int = 3, weight: int = 1) -> Kind:
    return Kind(
        name,
        takes=(2, most),
        pass_as="list",
        fits=alike(floats(1, 3)),
        gives=same,
        masks=True,
        weight=weight,
        dtypes=("float64",),
    )


KINDS = (
    _merge("Add", weight=3),
    _merge("Subtract", most=2),
    _merge("Multiply"),
    _merge("Average"),
    _merge("Maximum"),
    _merge("Minimum"),
    Kind(
        "Concatenate",
        options={"axis": (LEFT_OUT, 1)},
        takes=(2, 3),
        pass_as="list",
        fits=_joinable,
        arrange=_axis,
        gives=_joined,
        masks=True,
        weight=2,
    ),
    Kind(
        "Dot",
        options={"axes": (-1,), "normalize": (LEFT_OUT, True)},
        takes=(2, 2),
        pass_as="list",
        fits=alike(floats(1)),
        gives=_dotted,
    ),
)
