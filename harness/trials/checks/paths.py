"""Paths and places of a model's parts, as text; short texts of values."""

from __future__ import annotations

import json
from typing import Any

from clonediff.harness.observation import Structure
from clonediff.reports.records import Difference, Part, Place


def full_name(model: Structure, layer: int) -> str:
    """A layer's name, after its holders': "inner/dense"."""
    if not 0 <= layer < len(model.layers):
        return model.name
    record = model.layers[layer]
    return record.name if record.holder < 0 else f"{full_name(model, record.holder)}/{record.name}"


def place(model: Structure, layer: int, call: int = 0) -> Place:
    """The place of the original's layer; -1 is the model."""
    if not 0 <= layer < len(model.layers):
        return Place(model.name, model.kind, container=True)
    holder = model.layers[layer].holder
    inside = model.layers[holder].kind if holder >= 0 else ""
    return Place(full_name(model, layer), model.layers[layer].kind, layer, call, layer in model.members, inside)


def path_of(model: Structure, layer: int) -> str:
    """The path of the original's layer; -1 is the model."""
    return f"layers[{full_name(model, layer)!r}]" if 0 <= layer < len(model.layers) else "model"


def path_and_place(model: Structure, part: Part, index: int) -> tuple[str, Place]:
    """The path and place of the original's layer, weight or state by index."""
    if part == "layer":
        return path_of(model, index), place(model, index)
    return f"{part}s[{index}]", place(model, getattr(model, f"{part}s")[index].owner)


def is_within(inner: str, outer: str) -> bool:
    """Whether the path `inner` is, or begins with, `outer`; all begin with ""."""
    return outer in ("", inner) or (inner.startswith(outer) and inner[len(outer)] in ".[")


def shorten(value: Any, limit: int = 160) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=repr)
    if len(text) <= limit:
        return text
    half = (limit - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def kind_of(difference: Difference) -> str:
    """The kind of the layer that differs, or ""."""
    return difference.first.kind if difference.first is not None else ""
