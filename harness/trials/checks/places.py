"""Places in a model, and short texts for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from clonediff.harness.subjects.observation import LayerSeen, Shape, Variable
from clonediff.harness.trials.checks.pairing import full_name
from clonediff.reports.records import Difference, Place


def place(shape: Shape, layer: int, use: int = 0) -> Place:
    """The place of a layer of the original; of the model itself for -1."""
    if not 0 <= layer < len(shape.layers):
        return Place(shape.name, shape.kind, container=True)
    holder = shape.layers[layer].inside
    inside = shape.layers[holder].kind if holder >= 0 else ""
    return Place(full_name(shape, layer), shape.layers[layer].kind, layer, use, layer in shape.held, inside)


def at(shape: Shape, layer: int) -> str:
    """The path of a layer of the original; of the model itself for -1."""
    return f"layers[{full_name(shape, layer)!r}]" if 0 <= layer < len(shape.layers) else "model"


def numbered(shape: Shape, word: str, index: int) -> tuple[str, Place]:
    """The path of a "layer", a "weight" or a "state" of the original by its number, and the place."""
    if word == "layer":
        return at(shape, index), place(shape, index)
    return f"{word}s[{index}]", place(shape, getattr(shape, f"{word}s")[index].owner)


def in_common(shape: Shape, other: Shape) -> Iterator[tuple[str, int, LayerSeen | Variable]]:
    """Each layer, weight and state of a model that is one of another model's too: its word, its number and itself."""
    for word in ("layer", "weight", "state"):
        theirs = {each.ident for each in getattr(other, f"{word}s")}
        yield from (
            (word, index, each) for index, each in enumerate(getattr(shape, f"{word}s")) if each.ident in theirs
        )


def short(value: Any, limit: int = 160) -> str:
    """A value as text a person reads, cut in the middle where it is long."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=repr)
    if len(text) <= limit:
        return text
    half = (limit - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def kind_of(difference: Difference) -> str:
    """The kind of the layer that a difference is at; "" where no place is known."""
    return difference.first.kind if difference.first is not None else ""
