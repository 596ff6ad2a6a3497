"""Wraps a subclassed model, which has no graph to compare, in a functional model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clonediff.harness.inside.frameworks.interface import Framework

_WRAPPER = "keras.Model(x, {}(x), name='around')"
CLONE_LINES = f"inner = keras.models.clone_model(model.layers[-1])\nclone = {_WRAPPER.format('inner')}"
"""Lines of a script that clone the subclassed model alone, and wrap the clone."""


def is_subclassed(model: Any, framework: Framework) -> bool:
    """Whether an object is a model without a graph."""
    return isinstance(model, framework.keras.models.Model) and not framework.is_graph(model)


def wrapping_source(model: Any) -> str:
    """Source that wraps `model` in a functional model with inputs of its build shape."""
    shapes = getattr(model, "_build_shapes_dict", None) or {"": getattr(model, "_build_input_shape", None)}
    inputs = _inputs(next(iter(shapes.values())), model) if len(shapes) == 1 else ""
    if not inputs:
        reason, advice = "", "return keras.Model(inputs, model(inputs)) from the function"
        if not any(shapes.values()):
            reason, advice = ", and was not called on data", "call it on its input in the function"
        problem = f"{type(model).__name__} is subclassed{reason}: {advice}"
        raise ValueError(f"{problem}. clonediff.clone_model can clone such a model")
    return f"x = {inputs}\nmodel = {_WRAPPER.format('model')}\n"


def clone_wrapped_model(lines: str, cloner: Callable[[Any], Any], keras: Any, wrapper: Any) -> Any:
    """Clone the subclassed model inside `wrapper`; wrap the clone by the same `lines`."""
    names = {"keras": keras, "model": cloner(wrapper.layers[-1])}
    exec(lines, names)
    return names["model"]


def _inputs(shape: Any, model: Any, name: str = "x") -> str:
    """Source of inputs for a shape, or nested shapes, or ""."""
    if isinstance(shape, dict):
        parts = {key: _inputs(part, model, key) for key, part in shape.items()}
        items = ", ".join(f"{key!r}: {part}" for key, part in parts.items())
        return f"{{{items}}}" if all(parts.values()) else ""
    sizes = list(shape or ())
    if sizes and all(not isinstance(size, int | None) for size in sizes):
        inputs = [_inputs(part, model, f"{name}{number}") for number, part in enumerate(sizes)]
        return f"[{', '.join(inputs)}]" if all(inputs) else ""
    if not sizes:
        return ""
    spec = getattr(model, "_saved_model_inputs_spec", None)
    dtype = getattr(getattr(spec, "dtype", None), "name", "float32")
    return f"keras.Input({tuple(sizes[1:])}, dtype={dtype!r}, name={name!r})"
