"""Values as text that is the same in another process: no addresses, functions by their bytecode, arrays by digest."""

from __future__ import annotations

import contextlib
import re
import types
import weakref
from typing import Any, Iterator

import numpy as np

from .digests import short_hash

LONGEST = 120

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{5,}")
_DEEPEST = 12
_BUILT_ON = "build_config"
"""In the config of what a layer holds: the shape that it happened to be built on, which its calls tell as well."""


def without_addresses(text: str) -> str:
    """The text with memory addresses taken out."""
    return _ADDRESS.sub("0x", text) if "0x" in text else text


def entry(value: Any) -> str:
    """The canonical text of a value, cut to a readable length with a digest of the whole at its end."""
    whole = text(value)
    if len(whole) <= LONGEST:
        return whole
    return "%s...%s" % (whole[: LONGEST - 27], short_hash(whole.encode("utf-8", "backslashreplace")))


def text(value: Any, depth: int = 0) -> str:
    """The canonical text of a value, whole. Lists and tuples differ; the order of a dict's keys does not count."""
    kind = type(value)
    if value is None or kind in (bool, int, float, str, bytes):
        return repr(value)
    if depth > _DEEPEST:
        return "..."
    if isinstance(value, dict):
        if value.get("class_name") == "__lambda__" or _is_the_code_of_a_lambda(value):
            return "<lambda>"
        if value.get("class_name") in ("InputLayer", "SeedGenerator") and isinstance(value.get("config"), dict):
            # Its name may be a counted one, which is told where it is itself.
            value = dict(value, config={key: item for key, item in value["config"].items() if key != "name"})
        items = sorted((str(key), text(item, depth + 1)) for key, item in value.items() if key != _BUILT_ON)
        return "{%s}" % ", ".join("%s: %s" % item for item in items)
    if isinstance(value, (list, tuple)):
        inner = ", ".join([text(item, depth + 1) for item in value])
        return "[%s]" % inner if isinstance(value, list) else "(%s)" % inner
    if isinstance(value, (set, frozenset)):
        return "{%s}" % ", ".join(sorted(text(item, depth + 1) for item in value))
    if isinstance(value, np.ndarray):
        return "array(%s, %s, %s)" % (value.dtype, value.shape, short_hash(value.tobytes()))
    if isinstance(value, np.generic):
        return "%s(%s)" % (value.dtype, value)
    if isinstance(value, type):
        return "class %s" % value.__name__
    if isinstance(value, types.MethodType):
        return "method %s" % function(value.__func__, depth)
    if isinstance(value, types.FunctionType):
        return function(value, depth)
    if callable(value) and hasattr(value, "__name__"):
        return "function %s" % value.__name__
    return _object(value, depth)


_functions: Any = weakref.WeakKeyDictionary()
"""The texts of functions: one is met in the original and in each of its clones."""


def function(value: Any, depth: int = 0) -> str:
    """A Python function: its name, and a digest of what it does with which defaults and closure."""
    if value not in _functions:
        parts = [_code(value.__code__), text(value.__defaults__, depth + 1), text(value.__kwdefaults__, depth + 1)]
        parts += [text(content, depth + 4) for content in contents(value.__closure__ or ())]
        digest = short_hash("\n".join(parts).encode("utf-8", "backslashreplace"))
        _functions[value] = "function %s %s" % (value.__name__, digest)
    written: str = _functions[value]
    return written


def contents(cells: Any) -> Iterator[Any]:
    """What the cells of a closure hold; one may hold nothing yet."""
    for cell in cells:
        with contextlib.suppress(ValueError):
            yield cell.cell_contents


def _code(code: Any) -> str:
    constants = [_code(item) if isinstance(item, types.CodeType) else text(item) for item in code.co_consts]
    return "%s %s %s %s" % (code.co_code.hex(), constants, code.co_names, code.co_varnames)


def _object(value: Any, depth: int) -> str:
    name = type(value).__name__
    with contextlib.suppress(Exception):  # a symbolic tensor has no numbers, and a user's object may refuse to tell
        if hasattr(value, "numpy") and hasattr(value, "dtype"):
            return "%s %s" % (name, text(np.asarray(value.numpy()), depth + 1))
        if hasattr(value, "get_config"):
            return "%s %s" % (name, text(value.get_config(), depth + 1))
        return without_addresses("%s %s" % (name, value))
    return name


def _is_the_code_of_a_lambda(value: dict[Any, Any]) -> bool:
    """Whether it is what Keras writes of an activation: its bytes, which tell the line that it stands in as well."""
    code = value.get("value") if len(value) == 1 else None
    return isinstance(code, tuple) and len(code) == 3 and isinstance(code[0], str)
