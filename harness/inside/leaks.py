"""Finds leaks: mutable objects of the original that its clone reaches.

`gc.get_referents` finds references. Backend objects, classes, modules and functions do not belong to a model, but the
objects in the clone's functions can be reached. An object is not a leak if another build of the source reaches it, too,
or if a module holds it.
"""

from __future__ import annotations

import collections
import enum
import functools
import gc
import inspect
import itertools
import operator
import random
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from clonediff.harness.inside.packages import BACKENDS, cached_per_class, is_keras_class, is_policy, package_of
from clonediff.harness.observation import Leak

Objects = dict[int, Any]
"""Objects by `id`; the dict keeps them alive, so that no `id` is reused."""

_TRACKING_PACKAGE = "tensorflow.python.trackable."
"""TensorFlow's wrappers of lists and dicts, and its checkpoint references."""
_VALUE_CLASSES: tuple[Any, ...] = (
    *(bool, int, float, complex, str, bytes, enum.Enum, type(None), type(NotImplemented), type(Ellipsis)),
    *(type, types.ModuleType, types.CodeType, types.FrameType, types.TracebackType, types.BuiltinFunctionType),
    *(inspect.Signature, inspect.Parameter, inspect.FullArgSpec),
)
_FUNCTION_CLASSES = (types.FunctionType, types.MethodType, functools.partial, weakref.ref)
_MUTABLE_CLASSES = (
    *(list, dict, set, bytearray, collections.deque, np.ndarray),
    *(threading.local, random.Random, types.SimpleNamespace),
)
_RESOURCE_NAMES = ("ResourceVariable", "MutableHashTable", "DenseHashTable", "Generator")
"""Names of TensorFlow classes with mutable state."""
_MODULE_KEY = "__builtins__"
"""A key that only the namespace of a module has."""
_FUNCTION_PARTS = ("__closure__", "__defaults__", "__kwdefaults__", "__self__", "__func__", "func", "args", "keywords")


class _Category(enum.Enum):
    """A category of classes, whose objects a walk treats alike."""

    VALUE = 0
    PART = 1  # immutable, but may hold mutable objects
    MUTABLE = 2
    FUNCTION = 3  # a function or weak reference


def owned_objects(model: Any, function_items: Iterable[Any] = ()) -> Objects:
    """The objects that belong to a model, or to objects in its functions."""
    return _walk([model, *(item for item in function_items if _belongs_to_model(type(item)))], _belongs_to_model)


def common_objects(first: Objects, second: Objects, known: Objects) -> list[Any]:
    """The mutable objects that both models have, except `known` objects."""
    keys = first.keys() & second.keys() - known.keys()
    return [first[key] for key in keys if _category(type(first[key])) is _Category.MUTABLE]


def referents_of(owned: Objects) -> list[Any]:
    """The referents of a model's objects, followed by the bytes of arrays.

    The list keeps these objects alive, so that no `id` is reused.
    """
    items = list(owned.values())
    referents = gc.get_referents(*items, *(item.__dict__ for item in items if hasattr(item, "__dict__")))
    return referents + [item.tobytes() for item in referents if type(item) is np.ndarray]


def same_referents(before: list[Any], after: list[Any]) -> bool:
    """Whether two results of `referents_of` have the same objects, equal bytes, or equal tuples.

    The history of a tensor is a tuple, which Keras replaces with a new one.
    """
    return len(before) == len(after) and all(
        type(old) is type(new)
        and isinstance(old, (tuple, bytes))
        and len(old) == len(new)
        and (old == new if isinstance(old, bytes) else all(map(operator.is_, old, new)))
        for old, new in zip(before, after, strict=False)
        if old is not new
    )


def leaks(
    clone: list[Any], original: list[Any], owned: Objects, known: Iterable[Any], whole_packages: bool = False
) -> tuple[Leak, ...]:
    """The original's mutable objects that the clone reaches, except through `known` ones.

    `clone` and `original` are lists of a model and its layers. `owned` has the objects of the original.
    """
    known_ids = {id(item) for item in known}
    reached = _walk([item for item in clone if id(item) not in known_ids], _is_reachable)
    mutable = (key for key in reached.keys() & owned.keys() if _category(type(reached[key])) is _Category.MUTABLE)
    shared = {key for key in mutable if key not in known_ids and not _is_read_only(reached[key])}
    if not shared:
        return ()
    excluded = _objects_in_modules(owned, whole_packages)
    paths = {key: path for key, path in _paths(clone, shared, known_ids).items() if key not in excluded}
    original_paths = _paths(original, set(paths), set(), nested=True)
    names = {key: type(owned[key]).__name__ for key in paths}
    return tuple(Leak(names[key], *path, *original_paths.get(key, (-1, ""))) for key, path in paths.items())


def _is_read_only(item: Any) -> bool:
    """Whether an object is a read-only or scalar array: tf_keras shares these."""
    return isinstance(item, np.ndarray) and not (item.flags.writeable and item.ndim)


def _objects_in_modules(original: Objects, whole_packages: bool) -> Objects:
    """The objects in `__main__` and the modules of a model's classes, except Keras'.

    With `whole_packages`, all modules in the same packages are searched.
    """
    names = {type(item).__module__ for item in original.values()} | {"__main__"}
    if whole_packages:
        packages = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - BACKENDS
        names |= {name for name in list(sys.modules) if name.partition(".")[0] in packages}
    modules = [sys.modules[name] for name in names if name in sys.modules]
    values = [value for module in modules for value in list(vars(module).values())]
    return _walk((value for value in values if _belongs_to_module(type(value))), _belongs_to_module)


def _walk(roots: Iterable[Any], follows: Callable[[Any], bool]) -> Objects:
    objects = {id(root): root for root in roots}
    level = list(objects.values())
    followed: dict[type, bool] = {}
    while level:
        parts, level = _referents(level), []
        for part in parts:
            if id(part) in objects:
                continue
            cls = type(part)
            if cls not in followed:
                followed[cls] = follows(cls)
            if followed[cls] and not (cls is dict and _MODULE_KEY in part):
                objects[id(part)] = part
                level.append(part)
    return objects


def _referents(items: list[Any]) -> list[Any]:
    referents = gc.get_referents(*items)
    return referents + [item() for item in items if isinstance(item, weakref.ref)]


def _belongs_to_model(cls: Any) -> bool:
    return _category(cls) in (_Category.PART, _Category.MUTABLE)


def _is_reachable(cls: Any) -> bool:
    return _category(cls) is not _Category.VALUE


def _belongs_to_module(cls: Any) -> bool:
    """Whether objects of a class can belong to a module, unlike Keras objects."""
    return issubclass(cls, type) or (_belongs_to_model(cls) and not is_keras_class(cls))


@cached_per_class
def _category(cls: Any) -> _Category:
    package = package_of(cls)
    if issubclass(cls, _VALUE_CLASSES) or is_policy(cls):
        return _Category.VALUE
    if issubclass(cls, _FUNCTION_CLASSES):
        return _Category.FUNCTION
    if issubclass(cls, _MUTABLE_CLASSES):
        return _Category.MUTABLE
    if package == "tensorflow" and cls.__name__ in _RESOURCE_NAMES:
        return _Category.MUTABLE
    if package in BACKENDS and not cls.__module__.startswith(_TRACKING_PACKAGE):
        return _Category.VALUE
    is_frozen = getattr(getattr(cls, "__dataclass_params__", None), "frozen", False)
    if is_frozen or issubclass(cls, (tuple, frozenset)) or package in sys.stdlib_module_names:
        return _Category.PART
    return _Category.MUTABLE


# -- paths of leaks


def _paths(roots: list[Any], ids: set[int], known_ids: set[int], *, nested: bool = False) -> dict[int, tuple[int, str]]:
    """The shortest path to each object in `ids`, with its root.

    No path leads through objects in `known_ids`, nor, unless `nested`, through others in `ids`.
    """
    numbers = {id(root): number for number, root in enumerate(roots, -1) if id(root) not in known_ids}
    holders: dict[int, Any] = dict.fromkeys(numbers)
    paths = {key: (numbers[key], "") for key in ids & numbers.keys()}
    queue = collections.deque(root for root in roots if id(root) in numbers)
    while queue and len(paths) < len(ids):
        holder = queue.popleft()
        for part in _referents([holder]):
            key, cls = id(part), type(part)
            if key in holders or not _is_reachable(cls) or key in known_ids or (cls is dict and _MODULE_KEY in part):
                continue
            holders[key] = holder
            if nested or key not in ids:
                queue.append(part)
            if key not in ids:
                continue
            path = [part]
            while holders[id(path[-1])] is not None:
                path.append(holders[id(path[-1])])
            paths[key] = numbers[id(path[-1])], _as_python(path[::-1])
    return paths


def _as_python(path: list[Any]) -> str:
    """The Python expression from first to last object of a path."""
    namespaces = {id(getattr(item, "__dict__", None)) for item in path}
    items = [item for item in path if id(item) not in namespaces]
    return "".join(
        next(_expressions(holder, part), f".<{type(part).__name__}>") for holder, part in itertools.pairwise(items)
    )


def _expressions(holder: Any, part: Any) -> Iterator[str]:
    if isinstance(holder, weakref.ref):
        yield "()"
    elif isinstance(holder, types.CellType):
        yield ".cell_contents"
    elif isinstance(holder, dict):
        yield from (f"[{key!r}]" for key, value in holder.items() if value is part and type(key) in (str, int))
    elif isinstance(holder, (list, tuple, collections.deque)):
        yield from (f"[{number}]" for number, value in enumerate(holder) if value is part)
    elif isinstance(holder, _FUNCTION_CLASSES):
        yield from (f".{name}" for name in _FUNCTION_PARTS if getattr(holder, name, None) is part)
    attributes = getattr(holder, "__dict__", None) or {}
    yield from (f".{name}" for name, value in list(attributes.items()) if value is part)
