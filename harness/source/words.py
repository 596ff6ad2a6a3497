"""Words of generated Python: names, literals, and nothing else, so that what a graph holds cannot be code."""

from __future__ import annotations

import json
import keyword
import math
import re
from collections.abc import Sequence

from clonediff.strategies.graph import Array, MalformedGraph

_WORD = re.compile(r"[a-z_][a-z0-9_]*", re.IGNORECASE)
_DTYPE = re.compile(r"[a-z0-9_]+")


def snake(name: str) -> str:
    """The name as a variable has it."""
    word = re.sub(r"(?<=[a-z])(?=[A-Z0-9][A-Za-z])", "_", re.sub(r"\W", "_", name)).lower()
    return word if _WORD.fullmatch(word) else f"t_{word}"


def literal(text: str) -> str:
    """A string in double quotes: JSON's are Python's too, but for what it would escape in halves."""
    return json.dumps(text, ensure_ascii=False)


def identifier(name: str) -> str:
    """The name, if it is one."""
    if not _WORD.fullmatch(name) or keyword.iskeyword(name):
        raise MalformedGraph(f"argument: expected a name, found {name!r}")
    return name


def dotted(name: str) -> str:
    """Names with a dot between each two."""
    return ".".join(map(identifier, name.split(".")))


def dtype_literal(dtype: str) -> str:
    """The name of a dtype as a string."""
    if not _DTYPE.fullmatch(dtype):
        raise MalformedGraph(f"dtype: expected a word, found {dtype!r}")
    return f'"{dtype}"'


def tuple_literal(items: Sequence[int | str | None]) -> str:
    """A tuple: of the sizes of a shape, or of words."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(map(str, items))})"


def array_literal(array: Array) -> str:
    """An array as NumPy writes it: small, and told from one another by its numbers."""
    size, shape = math.prod(array.shape), "" if len(array.shape) == 1 else f".reshape{tuple_literal(array.shape)}"
    if array.dtype == "bool":
        return f"np.arange({size}){shape} % 3 != 2"
    if "int" in array.dtype:
        return f"np.arange({size}, dtype={dtype_literal(array.dtype)}){shape} % 2"
    return f"np.arange(1, {size + 1}, dtype={dtype_literal(array.dtype)}){shape} / 2"
