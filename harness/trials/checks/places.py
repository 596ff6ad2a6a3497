"""Places in a model, and short texts for people."""

from __future__ import annotations

import json
from typing import Any

from clonediff.harness.subjects.observation import Shape
from clonediff.harness.trials.checks.pairing import full_name, held_by
from clonediff.reports.records import Difference, Place


def place(shape: Shape, layer: int, use: int = 0) -> Place:
    """The place of a layer of the original; of the model itself for -1."""
    if not 0 <= layer < len(shape.layers):
        return Place(shape.name, shape.kind, container=True)
    holds = bool(held_by(shape, layer))
    holder = shape.layers[layer].inside
    inside = shape.layers[holder].kind if holder >= 0 else ""
    return Place(full_name(shape, layer), shape.layers[layer].kind, layer, use, holds, inside)


def at(shape: Shape, layer: int) -> str:
    """The path of a layer of the original; of the model itself for -1."""
    return f"layers[{full_name(shape, layer)!r}]" if 0 <= layer < len(shape.layers) else "model"


def short(value: Any, limit: int = 160) -> str:
    """A value as text a person reads, cut in the middle where it is long."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=repr)
    if len(text) <= limit:
        return text
    half = (limit - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def named(difference: Difference) -> str:
    """The expression for a layer of the model itself, by its name; "" for one inside another."""
    name = difference.first.name if difference.first else ""
    if not name or "/" in name:
        return ""
    return f"{{}}.get_layer({literal(name)})"


def literal(name: str) -> str:
    """A name as it stands in an expression that has "{}" for a model."""
    return json.dumps(name, ensure_ascii=False).replace("{", "{{").replace("}", "}}")
