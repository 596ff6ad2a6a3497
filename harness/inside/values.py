"""Draws a trial's numbers from its seed: inputs, targets and weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from clonediff.harness.observation import Endpoint

DEFAULT_SIZE = 3
DEFAULT_BATCH = 2
WORDS = ["red", "green", "blue", "a word", ""]

Fill = Callable[[Any, "tuple[int, ...]", "dict[str, Any]"], Any]


def input_arrays(specs: list[dict[str, Any]], batch: int | None, seed: int) -> list[Any]:
    random = np.random.default_rng(seed)
    return [input_array(spec, batch or DEFAULT_BATCH, random) for spec in specs]


def describe_input(spec: Mapping[str, Any]) -> str:
    """How an input is drawn, for a report."""
    shape = ", ".join(map(str, (spec["batch"], *spec["shape"])))
    numbers = {"ids": f", whole numbers below {spec.get('high')}", "mask": ", 0 and 1"}.get(spec.get("fill", ""), "")
    return f"{spec['name']}: {spec['dtype']} ({shape}){numbers}"


def input_array(spec: dict[str, Any], batch: int, random: Any) -> Any:
    """Draw an input's array, or convert the one in its spec."""
    dtype = str(spec.get("dtype", "float32"))
    if "array" in spec:
        return _convert(dtype, np.asarray(spec["array"]))
    name = spec.get("fill") or default_fill(dtype)
    if name == "words" and dtype != "string":  # the reducer may have removed the dtype
        name = default_fill(dtype)
    return _convert(dtype, FILLS[name](random, shape_of(spec, batch), spec))


def shape_of(spec: Mapping[str, Any], batch: int) -> tuple[int, ...]:
    size = spec.get("batch")
    return (
        batch if size is None else int(size),
        *tuple(DEFAULT_SIZE if length is None else int(length) for length in spec["shape"]),
    )


def target_arrays(shapes: Sequence[tuple[Any, ...]], seed: int) -> list[list[Any]]:
    random = np.random.default_rng(seed + 2)
    return [
        [random.random(shape, dtype=np.float32) for shape in shapes],
        [random.integers(0, max((1, *shape[-1:])), shape[:-1]) for shape in shapes],
    ]


def _convert(dtype: str, values: Any) -> Any:
    if dtype == "string":
        return values.astype(object) if values.dtype.kind in "SUO" else values.astype(str).astype(object)
    if dtype == "bfloat16":
        return values.astype("float32")
    return values.astype(dtype)


def weight_arrays(variables: list[tuple[str, tuple[int, ...], str]], seed: int) -> list[Any]:
    """A random value for each weight of a float dtype; None for others."""
    random = np.random.default_rng(seed + 1)
    arrays: list[Any] = []
    for name, shape, dtype in variables:
        if "float" not in dtype:
            arrays.append(None)
            continue
        array = np.asarray(random.standard_normal(shape, dtype=np.float32) * np.float32(0.5))
        if "variance" in name:
            # Layers compute the square root of a variance.
            array = np.float32(0.5) + np.abs(np.sin(array))
        arrays.append(array if dtype in ("float32", "bfloat16") else array.astype(dtype))
    return arrays


def _draw_steps(random: Any, shape: tuple[int, ...], spec: dict[str, Any]) -> Any:
    values = random.standard_normal(shape)
    if len(shape) < 2:
        return values
    # A third of the steps (axis 1) are zero, never the first. In sample 0, step 1 is zero and step 2 is not.
    is_zero = random.random(shape[:2]) < 0.35
    is_zero[0, 1:2], is_zero[0, 2:3] = True, False
    is_zero[-1, -1:] |= shape[0] > 1
    is_zero[:, :1] = False
    values[is_zero] = 0.0
    return values


def _draw_ids(random: Any, shape: tuple[int, ...], spec: dict[str, Any]) -> Any:
    high = max(int(spec.get("high") or 2), 1)
    values = random.integers(0, high, shape)
    if values.size > 1 and high > 1:
        flat = values.reshape(-1)
        flat[0] = max(int(flat[0]), 1)
        flat[1] = 0
    return values


def _draw_mask(random: Any, shape: tuple[int, ...], spec: dict[str, Any]) -> Any:
    values = random.random(shape) < 0.6
    if len(shape) > 1:
        flat = values.reshape(shape[0], -1)
        flat[:, :1] = True
        flat[0, 1:2] = False
    return values


def _draw_words(random: Any, shape: tuple[int, ...], spec: dict[str, Any]) -> Any:
    return np.array(WORDS, dtype=object)[random.integers(0, len(WORDS), shape)]


FILLS: dict[str, Fill] = {
    "normal": lambda random, shape, spec: random.standard_normal(shape),
    "steps": _draw_steps,
    "ids": _draw_ids,
    "mask": _draw_mask,
    "words": _draw_words,
}


def default_fill(dtype: str) -> str:
    return {"bool": "mask", "string": "words"}.get(dtype) or ("ids" if "int" in dtype else "normal")


def specs_of(ends: Sequence[Endpoint], specs: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """Specs of a model's inputs, from `specs` or the declared inputs."""
    shapes = [end.shape or (None,) for end in ends]  # an input of unknown rank gets one dimension
    defaults = [
        {"shape": size, "dtype": end.dtype, "batch": batch} for end, (batch, *size) in zip(ends, shapes, strict=False)
    ]
    return defaults if specs is None else [spec or default for spec, default in zip(specs, defaults, strict=False)]
