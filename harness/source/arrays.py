"""Arrays in a graph, as NumPy writes them: small, and told from one another by their numbers."""

from __future__ import annotations

import math

from clonediff.harness.source.dialect import Dialect
from clonediff.harness.source.words import dtype_literal, tuple_literal
from clonediff.strategies.graph import Array


def write_array(array: Array, dialect: Dialect) -> str:
    """The expression of an array, or of the tensor that is made of it."""
    size, shape = math.prod(array.shape), "" if len(array.shape) == 1 else f".reshape{tuple_literal(array.shape)}"
    if array.dtype == "bool":
        text = f"np.arange({size}){shape} % 3 != 2"
    elif "int" in array.dtype:
        text = f"np.arange({size}, dtype={dtype_literal(array.dtype)}){shape} % 2"
    else:
        text = f"np.arange(1, {size + 1}, dtype={dtype_literal(array.dtype)}){shape} / 2"
    return dialect.spell(dialect.tensor.format(text, dtype_literal(array.dtype))) if array.tensor else text
