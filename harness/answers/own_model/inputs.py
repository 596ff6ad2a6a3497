"""What a model is fed: random numbers of the shapes that it says it takes, or the arrays of a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.subjects.outcomes import ArraySeen, ModelDescribed, ModelInput

SIZE = 32
"""What an open dimension is taken as: large enough for an image that is halved five times."""
BATCH = 2
NUMBERS = 10
"""Whole numbers are drawn below this, or below the size of the vocabulary that they are looked up in."""


class InputsError(ValueError):
    """Arrays that do not fit the model; the message names the array, the input, and what was expected."""


def drawn(seen: ModelDescribed, *, size: int = SIZE, batch: int | None = None) -> tuple[dict[str, Any], ...]:
    """How to draw each input, as `inside.values` reads it."""
    whole = batch or _batch(seen.inputs)
    return tuple(_drawn(each, size, whole) for each in seen.inputs)


def from_file(seen: ModelDescribed, file: Path) -> tuple[dict[str, Any], ...]:
    """The arrays of a file as inputs: by the names of the inputs, or else in the order of the file."""
    names = [each.name for each in seen.inputs]
    if set(names) <= set(seen.arrays):
        chosen = names
    elif len(seen.arrays) == len(names):
        chosen = list(seen.arrays)
    else:
        raise InputsError(
            f"{file}: has the arrays {_listed(seen.arrays)}, expected one for each input of the model: {_listed(names)}"
        )
    return tuple(_given(each, key, seen.arrays[key], file) for each, key in zip(seen.inputs, chosen, strict=True))


def described(seen: ModelDescribed, specs: tuple[dict[str, Any], ...]) -> list[str]:
    """What each input was given, for a person."""
    lines = []
    for each, spec in zip(seen.inputs, specs, strict=True):
        shape = ", ".join(str(size) for size in (spec["batch"], *spec["shape"]))
        below = f", below {spec['high']}" if "high" in spec else ""
        source = f", {spec['key']} of the file" if "file" in spec else below
        lines.append(f"{each.name}: {each.dtype} ({shape}){source}")
    return lines


def _drawn(each: ModelInput, size: int, batch: int) -> dict[str, Any]:
    rest = [size if dimension is None else dimension for dimension in each.shape[1:]]
    spec: dict[str, Any] = {"shape": rest, "dtype": each.dtype, "batch": batch}
    if each.vocabulary is not None:
        # Numbers to look up may be declared as float32: that is what an input is where nobody says otherwise.
        return {**spec, "fill": "ids", "high": each.vocabulary}
    if "int" in each.dtype:
        return {**spec, "fill": "ids", "high": NUMBERS}
    return spec


def _batch(inputs: tuple[ModelInput, ...]) -> int:
    """The one batch size that a model was made for, where it was made for one."""
    return next((each.shape[0] for each in inputs if each.shape and each.shape[0] is not None), BATCH)


def _given(each: ModelInput, key: str, array: ArraySeen, file: Path) -> dict[str, Any]:
    fits = len(array.shape) == len(each.shape) and all(
        want is None or want == have for want, have in zip(each.shape, array.shape, strict=True)
    )
    if not fits:
        raise InputsError(
            f"{file}: the array {key!r} has the shape {array.shape}, expected {each.shape} for the input {each.name!r}"
        )
    batch = array.shape[0] if array.shape else 1
    return {"shape": list(array.shape[1:]), "dtype": each.dtype, "batch": batch, "file": str(file), "key": key}


def _listed(names: Mapping[str, Any] | list[str]) -> str:
    return ", ".join(repr(name) for name in names) or "none"
