"""What a model is fed: random numbers of the shapes that it says it takes, or the arrays of a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clonediff.harness.subjects.outcomes import ArraySeen, ModelDescribed, ModelInput

BATCH = 2


class InputsError(ValueError):
    """Arrays that do not fit the model; the message names the array, the input, and what was expected."""


def sized(text: str) -> tuple[str, int]:
    """A `--size`: the name of an input, "" for all that is open, and the size."""
    name, equals, number = text.rpartition("=")
    if (equals and not name) or not number.isascii() or not number.isdigit() or int(number) < 1:
        raise InputsError(f"--size {text}: expected N, or NAME=N for the input NAME; N is a whole number from 1 on")
    return name, int(number)


def check_sizes(seen: ModelDescribed, sizes: Mapping[str, int]) -> None:
    """Refuse a size for an input that is not there, or that leaves nothing open."""
    shapes = {each.name: each.shape for each in seen.inputs}
    for name, size in sizes.items():
        there = ", ".join(f"{each!r} {_shape(shape)}" for each, shape in shapes.items())
        if name not in shapes:
            raise InputsError(f"--size {name}={size}: the model has no input {name!r}, it has {there}")
        if None not in shapes[name][1:]:
            raise InputsError(f"--size {name}={size}: nothing is open in the input {name!r}, the model takes {there}")


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
    """What each input was given, for a person, and how a size was found that nobody asked for."""
    lines = []
    for each, spec in zip(seen.inputs, specs, strict=True):
        shape = ", ".join(str(size) for size in (spec["batch"], *spec["shape"]))
        how = {"ids": f", below {spec.get('high')}", "mask": ", 0 and 1"}.get(spec.get("fill", ""), "")
        how = f", {spec['key']} of the file" if "file" in spec else how
        lines.append(f"{each.name}: {each.dtype} ({shape}){how}")
    tried, found = seen.suited.refusals, seen.suited.sizes
    if tried and found:
        lines.append(f"size {_sizes(found)}, found by trying: with {_sizes(tried[0].sizes)}, {tried[0].why}")
    return lines


def refused(seen: ModelDescribed) -> str:
    """The sizes that were tried, where the model took none of them; "" where it did, or none was tried."""
    if seen.suited.sizes or not seen.suited.refusals:
        return ""
    return ", ".join(dict.fromkeys(_sizes(each.sizes) for each in seen.suited.refusals))


def _sizes(sizes: Mapping[str, int]) -> str:
    """Sizes as one number, where there is one for all, or by name."""
    if len(set(sizes.values())) == 1:
        return str(next(iter(sizes.values())))
    return " ".join(f"{name}={size}" for name, size in sizes.items())


def _shape(shape: tuple[int | None, ...]) -> str:
    return f"({', '.join('open' if size is None else str(size) for size in shape[1:])})"


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
