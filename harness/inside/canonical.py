"""Canonical text of values, without addresses: functions by bytecode, arrays by digest."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import re
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from clonediff.harness.fixed.parts import names_in
from clonediff.harness.inside.digests import as_text, short_hash
from clonediff.harness.inside.packages import cached_per_class, is_user_defined

MAX_LENGTH = 120

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{5,}")
_MAX_DEPTH = 12
_BUILD_KEY = "build_config"
"""The key of the build shape in a config. The shape is not compared, since calls are."""


def without_addresses(text: str) -> str:
    return _ADDRESS.sub("0x", text) if "0x" in text else text


def short_text(value: Any) -> str:
    """A value's canonical text; of a long one, the beginning and a digest."""
    text = full_text(value)
    if len(text) <= MAX_LENGTH:
        return text
    return "{}...{}".format(text[: MAX_LENGTH - 27], short_hash(text.encode("utf-8", "backslashreplace")))


def full_text(value: Any, depth: int = 0) -> str:
    """A value's full canonical text; lists differ from tuples, dicts are sorted."""
    cls = type(value)
    if value is None or cls in (bool, int, float, str, bytes):
        return repr(value)
    if depth > _MAX_DEPTH:
        return "..."
    if isinstance(value, dict):
        code = value.get("value") if len(value) == 1 else None
        is_code = isinstance(code, tuple) and len(code) == 3 and isinstance(code[0], str)
        if is_code or value.get("class_name") == "__lambda__":  # serialized code includes a line number
            return "<lambda>"
        if value.get("class_name") in ("InputLayer", "SeedGenerator") and isinstance(value.get("config"), dict):
            # Keras may have numbered the name, which is compared with the layer.
            value = dict(value, config={key: item for key, item in value["config"].items() if key != "name"})
        keys = [(key if isinstance(key, str) else repr(key), item) for key, item in value.items() if key != _BUILD_KEY]
        items = sorted((without_addresses(key), full_text(item, depth + 1)) for key, item in keys)
        return "{{{}}}".format(", ".join("{}: {}".format(*item) for item in items))
    if isinstance(value, (list, tuple)):
        inner = ", ".join([full_text(item, depth + 1) for item in value])
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, (set, frozenset)):
        return "{{{}}}".format(", ".join(sorted(full_text(item, depth + 1) for item in value)))
    if isinstance(value, np.ndarray):
        body: Any = value.tobytes()
        if value.dtype.kind in "OSU":  # the bytes of objects are pointers
            body = json.dumps([as_text(item) for item in value.flat]).encode()
        return f"array({value.dtype}, {value.shape}, {short_hash(body)})"
    if isinstance(value, np.generic):
        return f"{value.dtype}({value})"
    if isinstance(value, type):
        return " ".join(filter(None, ("class", value.__module__ + "." + value.__qualname__, class_digest(value))))
    if isinstance(value, types.MethodType):
        return f"method {function_text(value.__func__, depth)}"
    if isinstance(value, types.FunctionType):
        return function_text(value, depth)
    if callable(value) and hasattr(value, "__name__"):
        return f"function {value.__name__}"
    return _object_text(value, depth)


def function_text(value: Any, depth: int = 0) -> str:
    """A function's name, and digest of code, defaults, closure, globals."""
    parts = [
        _code_text(value.__code__),
        full_text(value.__defaults__, depth + 1),
        full_text(value.__kwdefaults__, depth + 1),
    ]
    parts += [_content_text(content, depth + 4) for content in cell_contents(value.__closure__ or ())]
    parts += [f"{name}: {_content_text(content, depth + 4)}" for name, content in globals_of(value)]
    digest = short_hash("\n".join(parts).encode("utf-8", "backslashreplace"))
    return f"function {value.__code__.co_name} {digest}"


def _content_text(value: Any, depth: int) -> str:
    """The text of a value in a closure or global; of an object with attributes, only the class."""
    is_plain = value is None or isinstance(value, (bool, int, float, str, bytes, np.ndarray, np.generic))
    is_plain = is_plain or isinstance(value, (list, tuple, dict, set, frozenset, type)) or callable(value)
    return full_text(value, depth) if is_plain and not hasattr(value, "get_config") else type(value).__name__


def globals_of(function: Any) -> Iterator[tuple[str, Any]]:
    """The globals that a user's function reads, by name, without modules."""
    if not is_user_defined(function):
        return
    for name in sorted(names_in(function.__code__, "LOAD_GLOBAL", "LOAD_NAME")):
        value = function.__globals__.get(name)
        if name in function.__globals__ and not isinstance(value, types.ModuleType):
            yield name, value


@cached_per_class
def class_digest(cls: Any) -> str:
    """A digest of the bases and methods of a user-defined class, or ""."""
    if not is_user_defined(cls):
        return ""
    parts = [base.__module__ + "." + base.__qualname__ for base in cls.__mro__]
    for base in filter(is_user_defined, cls.__mro__):
        for name, member in sorted(vars(base).items()):
            value = repr(member) if isinstance(member, (bool, int, float, str, bytes)) else ""
            parts.append(f"{name} {value} {[_code_text(code) for code in code_objects(member)]}")
    return short_hash("\n".join(parts).encode("utf-8", "backslashreplace"))


def code_objects(member: Any) -> list[types.CodeType]:
    """The code of a method or property, without decorators."""
    accessors = (member.fget, member.fset, member.fdel) if isinstance(member, property) else (member,)
    functions: list[Any] = [getattr(accessor, "__func__", accessor) for accessor in accessors]
    codes = [getattr(inspect.unwrap(function), "__code__", None) for function in functions]
    return [code for code in codes if code is not None]


def cell_contents(cells: Any) -> Iterator[Any]:
    for cell in cells:
        with contextlib.suppress(ValueError):
            yield cell.cell_contents


@functools.lru_cache(maxsize=4096)
def _code_text(code: Any) -> str:
    constants = [_code_text(item) if isinstance(item, types.CodeType) else full_text(item) for item in code.co_consts]
    return f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}"


def _object_text(value: Any, depth: int) -> str:
    name = type(value).__name__
    with contextlib.suppress(Exception):  # a symbolic tensor has no numbers, a user's `get_config` may raise
        if hasattr(value, "numpy") and hasattr(value, "dtype"):
            return f"{name} {full_text(np.asarray(value.numpy()), depth + 1)}"
        if hasattr(value, "get_config"):
            return f"{name} {full_text(value.get_config(), depth + 1)}"
        return without_addresses(f"{name} {value}")
    return name
