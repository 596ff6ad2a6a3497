"""Names paths and places in a model, and shortens values for display."""

from __future__ import annotations

import json
from typing import Any

from clonediff.harness.observation import Shape
from clonediff.reports.records import Difference, Part, Place


def full_name(shape: Shape, layer: int) -> str:
    """The name of a layer, after the names of its holders: "inner/dense"."""
    if not 0 <= layer < len(shape.layers):
        return shape.name
    holder = shape.layers[layer]
    return holder.name if holder.inside < 0 else f"{full_name(shape, holder.inside)}/{holder.name}"


def place(shape: Shape, layer: int, use: int = 0) -> Place:
    """The place of a layer of the original; -1 is the model."""
    if not 0 <= layer < len(shape.layers):
        return Place(shape.name, shape.kind, container=True)
    holder = shape.layers[layer].inside
    inside = shape.layers[holder].kind if holder >= 0 else ""
    return Place(full_name(shape, layer), shape.layers[layer].kind, layer, use, layer in shape.members, inside)


def path_of(shape: Shape, layer: int) -> str:
    """The path of a layer of the original; -1 is the model."""
    return f"layers[{full_name(shape, layer)!r}]" if 0 <= layer < len(shape.layers) else "model"


def path_and_place(shape: Shape, part: Part, index: int) -> tuple[str, Place]:
    """The path and place of a layer, weight or state of the original by index."""
    if part == "layer":
        return path_of(shape, index), place(shape, index)
    return f"{part}s[{index}]", place(shape, getattr(shape, f"{part}s")[index].owner)


def is_within(inner: str, outer: str) -> bool:
    """Whether the path `inner` is `outer`, or begins with it; every path begins with ""."""
    return outer in ("", inner) or (inner.startswith(outer) and inner[len(outer)] in ".[")


def short(value: Any, limit: int = 160) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=repr)
    if len(text) <= limit:
        return text
    half = (limit - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def kind_of(difference: Difference) -> str:
    """The kind of the layer in which a difference is; "" if that is unknown."""
    return difference.first.kind if difference.first is not None else ""
