"""What of a model can be reached from its clone: objects that can change, whatever attribute leads to them.

Python itself says what an object refers to (`gc.get_referents`), so no list of attributes is needed. An object of the
backend, a class and a module is no part of a model. A function is none either, as a user may share it; but where the
clone holds a function that closes over the original, that is found.

What is shared by everybody is no leak: what another build of the same source reaches too, and what a module holds.
"""

from __future__ import annotations

import collections
import enum
import functools
import gc
import inspect
import itertools
import random
import sys
import threading
import types
import weakref
from typing import Any, Callable, Iterable, Iterator, NamedTuple

from .by_class import once_a_class

Objects = dict[int, Any]
"""Objects by their ids. They are held, so that no id is given twice."""

_BACKENDS = frozenset(
    ["tensorflow", "jax", "jaxlib", "flax", "torch", "numpy", "ml_dtypes", "google", "wrapt", "h5py", "absl"]
)
_TRACKING = "tensorflow.python.trackable."
"""TensorFlow's wrappers of lists and dicts, and its references to what a checkpoint saves."""
_KERAS = ("keras", "tf_keras")
_VALUES: tuple[Any, ...] = (
    *(bool, int, float, complex, str, bytes, enum.Enum, type(None), type(NotImplemented), type(Ellipsis)),
    *(type, types.ModuleType, types.CodeType, types.FrameType, types.TracebackType, types.BuiltinFunctionType),
    *(inspect.Signature, inspect.Parameter, inspect.FullArgSpec),
)
_POLICIES = ("DTypePolicy", "Policy")
"""Nobody changes a policy; the one of the session is in whatever was made meanwhile."""
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial, weakref.ref)
_STATES = (list, dict, set, bytearray, collections.deque, threading.local, random.Random)


_GLOBALS = "__builtins__"
"""What a dict has that is the namespace of a module."""


class _Kind(enum.Enum):
    """How a walk treats the objects of a class."""

    VALUE = 0
    PART = 1
    CAN_CHANGE = 2
    FUNCTION = 3  # or a weak reference: `_parts` says what it leads to


class Leak(NamedTuple):
    """An object of the original that its clone reaches: the way there from a layer of the clone, and of the original.

    A layer goes by its place, the model by -1.
    """

    thing: Any
    layer: int
    path: str
    of_layer: int
    of_path: str


def owned(model: Any) -> Objects:
    """All that belongs to a model."""
    return _walk([model], _is_of_a_model)


def leaks(clone: list[Any], original: list[Any], belongings: Objects, known: Iterable[Any]) -> list[Leak]:
    """The `belongings` of the original that the clone reaches; none that are `known`, nor what only these lead to.

    `clone` and `original` are models, each followed by its layers.
    """
    stops = {id(thing) for thing in known}
    seeds = [(number, thing) for number, thing in enumerate(clone, -1) if id(thing) not in stops]
    reached = _walk([thing for _, thing in seeds], _is_of_a_clone)
    shared = {
        key for key in reached.keys() & belongings.keys() if _kind(type(reached[key])) is _Kind.CAN_CHANGE
    } - stops
    if not shared:
        return []
    found = list(_paths(seeds, shared, stops))
    seeds = list(enumerate(original, -1))
    places = {id(thing): (number, "") for number, thing in seeds}
    places.update(
        (id(thing), (number, path))
        for thing, number, path in _paths(seeds, {id(thing) for thing, _, _ in found}, set())
    )
    return [Leak(thing, number, path, *places.get(id(thing), (-1, ""))) for thing, number, path in found]


def held_by_modules(original: Objects, whole_packages: bool) -> Objects:
    """What is in the modules of the source and of a model's classes: lists, dicts, and objects that are not Keras'.

    With `whole_packages`, it is what all modules of these packages have.
    """
    names = {type(thing).__module__ for thing in original.values()} | {"__main__"}
    if whole_packages:
        packages = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - _BACKENDS
        names |= {name for name in list(sys.modules) if name.partition(".")[0] in packages}
    modules = [sys.modules[name] for name in names if name in sys.modules]
    values = [value for module in modules for value in list(vars(module).values())]
    return _walk((value for value in values if _is_of_a_module(type(value))), _is_of_a_module)


# -- the walk


class _Followed(dict[type, bool]):
    """Whether a walk follows objects of a class, asked once for each class."""

    def __init__(self, follows: Callable[[Any], bool]) -> None:
        self._follows = follows

    def __missing__(self, kind: type) -> bool:
        answer = self[kind] = self._follows(kind)
        return answer


def _walk(seeds: Iterable[Any], follows: Callable[[Any], bool]) -> Objects:
    """All that can be reached from the seeds by objects of the classes that the walk `follows`."""
    seen = {id(seed): seed for seed in seeds}
    level = list(seen.values())
    followed = _Followed(follows)
    while level:
        functions = [thing for thing in level if issubclass(type(thing), _FUNCTIONS)]
        others = [thing for thing in level if not issubclass(type(thing), _FUNCTIONS)] if functions else level
        level = []
        for thing in [*gc.get_referents(*others), *(part for each in functions for _, part in _parts(each))]:
            if id(thing) in seen:
                continue
            kind = type(thing)
            if followed[kind] and not (kind is dict and _GLOBALS in thing):
                seen[id(thing)] = thing
                level.append(thing)
    return seen


def _is_of_a_model(kind: Any) -> bool:
    """Functions and weak references of an original are no part of it."""
    return _kind(kind) in (_Kind.PART, _Kind.CAN_CHANGE)


def _is_of_a_clone(kind: Any) -> bool:
    return _kind(kind) is not _Kind.VALUE


def _is_of_a_module(kind: Any) -> bool:
    """An object of Keras is somebody's model, or a part of it."""
    return issubclass(kind, type) or (_is_of_a_model(kind) and not _is_of_keras(kind))


@once_a_class
def _is_of_keras(kind: Any) -> bool:
    return any(base.__module__.partition(".")[0] in _KERAS for base in kind.__mro__)


@once_a_class
def _kind(kind: Any) -> _Kind:
    root = (kind.__module__ or "").partition(".")[0]
    if issubclass(kind, _VALUES):
        return _Kind.VALUE
    if any(base.__name__ in _POLICIES for base in kind.__mro__) and _is_of_keras(kind):
        return _Kind.VALUE
    if issubclass(kind, _FUNCTIONS):
        return _Kind.FUNCTION
    if issubclass(kind, _STATES):
        return _Kind.CAN_CHANGE
    if root in _BACKENDS and not kind.__module__.startswith(_TRACKING):
        return _Kind.VALUE
    if issubclass(kind, (tuple, frozenset)) or root in sys.stdlib_module_names:
        return _Kind.PART
    return _Kind.CAN_CHANGE


# -- paths, once something was found


def _paths(seeds: list[tuple[int, Any]], shared: set[int], stops: set[int]) -> Iterator[tuple[Any, int, str]]:
    """The shortest way to each shared object, from the model or from the layer that is nearest."""
    holders: dict[int, Any] = {id(thing): None for _, thing in seeds}
    numbers = {id(thing): number for number, thing in seeds}
    followed, left = _Followed(_is_of_a_clone), set(shared)
    todo = collections.deque(thing for _, thing in seeds)
    while todo and left:
        holder = todo.popleft()
        if issubclass(type(holder), _FUNCTIONS):
            parts = [part for _, part in _parts(holder)]
        else:
            parts = gc.get_referents(holder)
        for part in parts:
            key, kind = id(part), type(part)
            if key in holders or not followed[kind] or key in stops or (kind is dict and _GLOBALS in part):
                continue
            holders[key] = holder
            if key in left:
                left.remove(key)
                way = [part]
                while holders[id(way[-1])] is not None:
                    way.append(holders[id(way[-1])])
                yield part, numbers[id(way[-1])], _written(way[::-1])
            else:
                todo.append(part)


def _written(way: list[Any]) -> str:
    """How Python writes the way from its first object to its last."""
    text = ""
    for holder, part in itertools.pairwise(thing for thing in way if not _is_a_dict_of_attributes(thing, way)):
        steps = (step for step, other in _parts(holder) if other is part)
        text += next(steps, f".<{type(part).__name__}>")
    return text


def _is_a_dict_of_attributes(thing: Any, way: list[Any]) -> bool:
    return type(thing) is dict and any(getattr(holder, "__dict__", None) is thing for holder in way)


def _parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """What a thing refers to, each with how Python writes the way there."""
    if isinstance(thing, types.FunctionType):
        yield from ((f".__closure__[{number}]", cell) for number, cell in enumerate(thing.__closure__ or ()))
        yield ".__defaults__", thing.__defaults__
        yield ".__kwdefaults__", thing.__kwdefaults__
    elif isinstance(thing, types.MethodType):
        yield ".__self__", thing.__self__
        yield ".__func__", thing.__func__
    elif isinstance(thing, functools.partial):
        yield from ((f".{name}", getattr(thing, name)) for name in ("func", "args", "keywords"))
    elif isinstance(thing, weakref.ref):
        yield "()", thing()
    elif isinstance(thing, dict):
        yield from ((f"[{key!r}]", value) for key, value in list(thing.items()) if type(key) in (str, int))
    elif isinstance(thing, (list, tuple, collections.deque)):
        yield from ((f"[{number}]", value) for number, value in enumerate(thing))
    elif isinstance(thing, types.CellType):
        yield from ((".cell_contents", value) for value in gc.get_referents(thing))
    attributes = getattr(thing, "__dict__", None)
    if type(attributes) is dict:
        yield from ((f".{name}", value) for name, value in list(attributes.items()))
