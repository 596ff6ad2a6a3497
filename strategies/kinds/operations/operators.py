"""Operators on tensors, and slices of them: what is written alike for every framework."""

from __future__ import annotations

import re
from collections.abc import Mapping

from strategies.graph import Array, Layer, Value
from strategies.kinds.kind import LEFT_OUT, Dims, Gives, Spec, Specs, floats, plain
from strategies.kinds.operations.rules import (
    FLOAT,
    GRID,
    Operation,
    given,
    kept,
    multiplied,
    operation,
    prefixed,
    second,
    truths,
    typed,
)

ANY = floats(1, 3)
NUMBERS: tuple[Value, ...] = (2.0, 0.5, 3, Array((1,)))
LEFT: tuple[Value, ...] = (LEFT_OUT, True)

_PART = re.compile(r"-?\d+|None|\.\.\.|(-?\d+)?:(-?\d+)?(:-?\d+)?")
_KEYS = (
    "[:, 0]",
    "[:, 1:]",
    "[..., 0]",
    "[..., :1]",
    "[..., -1]",
    "[:, :-1]",
    "[:, ::2]",
    "[:, ::-1]",
    "[..., None]",
    "[:, None]",
    "[:, -2:]",
    "[:, :, 0]",
    "[:, 1:, :1]",
    "[:, -1, None]",
)
_BATCH_KEYS = ("[0]", "[-1]")


def parts(key: Value) -> tuple[str, ...]:
    """What stands between the commas of a slice; nothing where it is none."""
    if not isinstance(key, str) or key[:1] != "[" or key[-1:] != "]":
        return ()
    found = tuple(part.strip() for part in key[1:-1].split(","))
    return found if all(_PART.fullmatch(part) for part in found) else ()


def sliced(shape: Dims, key: Value) -> Dims | None:
    """The shape that a slice leaves; None where it takes of the batch, or there is nothing to take."""
    said = list(parts(key))
    if not said or said.count("...") > 1:
        return None
    named = sum(part not in ("None", "...") for part in said)
    rest = [":"] * (len(shape) + 1 - named)
    at = said.index("...") if "..." in said else len(said)
    said = [*said[:at], *rest, *said[at + 1 :]]
    if len(rest) != len(shape) + 1 - named or said[0] != ":":
        return None
    sizes, left = list[int | None](), iter(shape)
    for part in said[1:]:
        if part == "None":
            sizes.append(1)
            continue
        size = next(left)
        if ":" not in part:
            if size is not None and not -size <= int(part) < size:
                return None
            if size is None:
                return None
            continue
        if part == ":":
            sizes.append(size)
            continue
        taken = None if size is None else len(range(size)[_slice(part)])
        if taken == 0:
            return None
        sizes.append(taken)
    return tuple(sizes) if len(sizes) <= 4 else None


def _slice(part: str) -> slice:
    return slice(*(int(number) if number else None for number in part.split(":")))


def _of_key(specs: Specs, layer: Layer) -> Specs | None:
    shape = sliced(specs[0].shape, layer.arg("key"))
    return None if shape is None else (Spec(shape, specs[0].dtype, large=specs[0].large),)


def _of_batch(specs: Specs, layer: Layer) -> Specs | None:
    return kept(specs, layer) if layer.arg("key") in _BATCH_KEYS else None


def _anything(specs: Specs) -> bool:
    return all(1 <= spec.rank <= 3 and spec.dtype != "string" for spec in specs)


def _binary(name: str, *of: str, gives: Gives = kept, others: tuple[Value, ...] = NUMBERS) -> Operation:
    """Of two tensors, or of one and a number or an array, on either side."""
    return operation(
        name,
        second(gives, "other"),
        ANY,
        (1, 2),
        of=of,
        arrange=_sides,
        only=None,
        other=others,
        left=LEFT,
    )


def _sides(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value]:
    """An array stands on the right: on the left NumPy would ask the tensor for its numbers."""
    if len(specs) == 2:
        return {}
    return {**drawn, "left": LEFT_OUT} if isinstance(drawn.get("other"), Array) else dict(drawn)


def _half(specs: Specs, layer: Layer) -> Specs:
    return (Spec(specs[0].shape, specs[0].dtype),)


def _first(shape: Dims, layer: Layer) -> Dims:
    return shape[1:]


def _narrow(shape: Dims, layer: Layer) -> Dims:
    return (*shape[:-1], 1)


KINDS = prefixed(
    "operator.",
    (
        operation("half", _half, ANY, only=None),
        operation("negative", kept, ANY, only=None),
        _binary("add"),
        _binary("subtract"),
        _binary("multiply", gives=multiplied),
        _binary("divide", "", "positive"),
        _binary("floor_divide", "", "positive", others=(2.0, Array((1,)))),
        _binary("mod", "", "positive", others=(2.0, Array((1,)))),
        operation("power", kept, FLOAT, of=("positive",), only=None, other=(2.0, 0.5, 2), left=LEFT),
        operation("round", kept, FLOAT),
        operation(
            "matmul", given(lambda shape, layer: (*shape[:-1], shape[-2])), GRID, 2, of=("", "turned"), only=None
        ),
        *(
            _binary(name, gives=typed("bool"), others=(0.0, 0.5, Array((1,))))
            for name in ("less", "less_equal", "greater", "greater_equal", "not_equal")
        ),
        *(
            operation(name, kept, lambda specs: truths(specs) and specs[0].dtype == "bool", 2, only=None)
            for name in ("and", "or", "xor")
        ),
        operation("invert", kept, lambda specs: truths(specs) and specs[0].dtype == "bool", only=None),
        operation("absolute", kept, ANY, only=None),
        operation("slice", _of_key, _anything, only=None, weight=4, key=_KEYS),
        operation("of_batch", _of_batch, FLOAT, only=None, key=_BATCH_KEYS),
        operation("from_one", kept, ANY, only=None),
        operation("first", given(_first), plain(floats(2, 3)), only=None),
        operation("narrow", given(_narrow), ANY, only=None),
        operation("positive", given(lambda shape, layer: shape[:1], "bool"), floats(2), only=None),
    ),
)
