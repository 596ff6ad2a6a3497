"""The expression of an input."""

from __future__ import annotations

from clonediff.harness.source.dialect import Dialect
from clonediff.harness.source.words import dtype_literal, literal, tuple_literal
from clonediff.strategies.graph import Input


def write_input(given: Input, dialect: Dialect, *, as_layer: bool = False) -> str:
    """An input as a dialect has it: a tensor, or the layer that gives it."""
    function, shape = ("layers.InputLayer", dialect.layer_shape) if as_layer else ("keras.Input", "shape")
    parts = [f"{shape}={tuple_literal(given.shape)}"]
    parts += [f"dtype={dtype_literal(given.dtype)}"] if given.dtype != "float32" else []
    parts += ["optional=True"] if given.optional else []
    parts += [f"name={literal(given.name)}"] if given.name is not None else []
    return f"{function}({', '.join(parts)})"
