"""What belongs to a model: everything that its objects lead to, and what is shared with the original.

Functions, classes, modules, tensors and what belongs to a framework are shared. Layers, nodes, variables, containers
and whatever else a person has put on a model belong to it. A function, a bound method or a partial belongs to it only
where it leads to something of the model, as the function of a `Lambda` that calls another layer does.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import copyreg
import enum
import functools
import gc
import io
import logging
import socket
import subprocess
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

CONTAINERS = (list, dict, set, collections.deque)
IMMUTABLE = (tuple, frozenset)
WEAK = (weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet)
FUNCTIONS = (
    types.FunctionType,
    types.MethodType,
    types.BuiltinMethodType,
    functools.partial,
    functools._lru_cache_wrapper,
    weakref.ref,
    *WEAK,
)
"""What belongs to a model where it leads to the model, and is shared elsewhere."""
ATOMS = frozenset(
    [
        *(type(None), bool, int, float, complex, bytes, str, range, slice, object, type(...), type(NotImplemented)),
        *(type, types.CodeType, types.CellType, types.GenericAlias, types.UnionType),
        *(property, staticmethod, classmethod, types.WrapperDescriptorType, types.MethodDescriptorType),
        *(types.MethodWrapperType, types.GetSetDescriptorType),
    ]
)
SHARED = (
    *(type, types.ModuleType, enum.Enum, np.generic, np.dtype, np.ufunc),
    *(io.IOBase, socket.socket, subprocess.Popen, threading.Thread, logging.Logger, logging.Handler),
)
"""What cannot change, and what is one of its kind, as a file or a thread."""
LOCKS: dict[type, Callable[[], Any]] = {
    type(threading.Lock()): threading.Lock,
    type(threading.RLock()): threading.RLock,
    **{cls: cls for cls in (threading.local, threading.Condition)},
}
"""What makes a new one."""
FRAMEWORKS = frozenset(["tensorflow", "jax", "jaxlib", "torch", "inspect", "typing", "re", "google", "wrapt", "absl"])
WRAPPERS = ("_DictWrapper", "_TupleWrapper")
"""Proxies of TensorFlow around a dictionary and a tuple."""
TRACKABLE = ("TrackableReference", "WeakTrackableReference")
TF_FUNCTION = ("tensorflow.python.eager.polymorphic_function.polymorphic_function", "Function")
"""The class of what `tf.function` gives."""
COPY_METHODS = (
    *("__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__"),
    *("__getnewargs__", "__getnewargs_ex__", "__getstate__", "__setstate__"),
)
HEAP_TYPE = 1 << 9
MOST_REFERENTS = 5000
"""Objects that are looked at behind a function to find whether it leads to the model."""


class Kind(enum.Enum):
    """How an object is copied."""

    SHARED = "the clone has the very object"
    FRAMEWORK = "shared, but where it is a resource of its own"
    DICT = "a new dictionary"
    LIST = "a new list"
    OBJECT = "a new object of the class, and each attribute and item copied"
    TUPLE = "a new tuple, if anything in it is new"
    WRAPPER = "a proxy of TensorFlow around a copy"
    FUNCTION = "shared, but where it leads to the model"
    LOCK = "a new one"
    PROTOCOL = "copied as its class says, by `copy.deepcopy`"


class Plan:
    """How the objects of a class are copied."""

    __slots__ = ("cls", "is_container", "is_owned", "kind", "new", "skipped", "slots")

    def __init__(self, cls: type, kind: Kind, skipped: dict[str, Any]) -> None:
        self.cls = cls
        self.kind = kind
        self.skipped = skipped
        """The attributes that are not copied, and what a clone has there."""
        self.is_owned = kind not in (Kind.SHARED, Kind.FRAMEWORK, Kind.FUNCTION, Kind.LOCK)
        self.is_container = issubclass(cls, CONTAINERS)
        self.slots: list[str] = copyreg._slotnames(cls)  # type: ignore[attr-defined]
        self.new = object.__new__
        for base in cls.__mro__:
            new = vars(base).get("__new__")
            if isinstance(new, types.BuiltinMethodType):
                self.new = new
                break


class Walk:
    """Walks over what belongs to a model. A subclass knows one Keras."""

    MODULES: tuple[str, ...] = ()
    """The beginnings of the modules whose classes, and classes derived from them, are copied attribute by attribute."""
    VARIABLE: Any = ()
    TENSOR: Any = ()
    CALL: Any = ()
    """The class of a call in a graph."""
    OWNING: Any = ()
    """Classes of what a message may name as that which holds something."""
    LEFT_BY_RUNS: tuple[tuple[Any, str, Any], ...] = ()
    """A class, an attribute in which a run leaves something, and what a clone has there; `MISSING` for nothing.

    A function says what the clone has where the original has some value.
    """
    OF_GRAPHS: tuple[tuple[Any, str], ...] = ()
    """A class, and an attribute that lists calls: the clone has those of its own graphs."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.plans: dict[type, Plan] = {}
        self.owned: dict[int, Any] = {}
        self.functions: dict[int, Any] = {}
        self.memo: dict[int, Any] = {}
        """The clone of each object, by the `id` of the object."""

    def plan(self, cls: type) -> Plan:
        found = self.plans.get(cls)
        if found is None:
            skipped = {name: value for base, name, value in self.LEFT_BY_RUNS if issubclass(cls, base)}
            skipped.update((name, OF_GRAPHS) for base, name in self.OF_GRAPHS if issubclass(cls, base))
            found = self.plans[cls] = Plan(cls, self._kind(cls), skipped)
        return found

    def _kind(self, cls: type) -> Kind:
        if cls in ATOMS or issubclass(cls, SHARED):
            return Kind.SHARED
        if cls in FUNCTIONS or issubclass(cls, weakref.ref) or (cls.__module__, cls.__name__) == TF_FUNCTION:
            return Kind.FUNCTION
        if cls in LOCKS:
            return Kind.LOCK
        if cls is dict or cls is list:
            return Kind.DICT if cls is dict else Kind.LIST
        modules = [base.__module__ for base in cls.__mro__]
        if cls.__name__ in WRAPPERS and "wrapt" in {name.partition(".")[0] for name in modules}:
            return Kind.WRAPPER
        if issubclass(cls, IMMUTABLE) and (cls in IMMUTABLE or hasattr(cls, "_fields")):
            return Kind.TUPLE
        if any(name.startswith(self.MODULES) for name in modules) or cls.__name__ in TRACKABLE:
            return Kind.OBJECT
        if self.VARIABLE and issubclass(cls, self.VARIABLE):
            return Kind.OBJECT
        if cls.__module__.partition(".")[0] in FRAMEWORKS:
            return Kind.FRAMEWORK
        return Kind.OBJECT if is_plain(cls) else Kind.PROTOCOL

    def walk(self, *things: Any) -> None:
        """Walk over everything that these lead to."""
        waiting = list(things)
        owned, memo, plans = self.owned, self.memo, self.plans
        while waiting:
            thing = waiting.pop()
            cls = type(thing)
            if cls in ATOMS:
                continue
            plan = plans.get(cls) or self.plan(cls)
            if not plan.is_owned:
                if plan.kind is Kind.FUNCTION:
                    self.functions[id(thing)] = thing
                continue
            if id(thing) in owned or id(thing) in memo:
                continue
            owned[id(thing)] = thing
            kind = plan.kind
            if kind is Kind.OBJECT:
                waiting += self._parts(thing, plan)
            elif kind is Kind.LIST or kind is Kind.TUPLE:
                waiting += thing
            elif kind is Kind.DICT:
                waiting += thing
                waiting += thing.values()
            elif kind is Kind.WRAPPER:
                waiting.append(thing.__wrapped__)
                if cls.__name__ == "_DictWrapper":  # the other has no attributes of its own
                    waiting += object.__getattribute__(thing, "__dict__").values()
            else:
                waiting += referents(thing)

    def _parts(self, thing: Any, plan: Plan) -> list[Any]:
        named, skipped = attributes(thing, plan), plan.skipped
        if skipped:
            found = [value for name, value in named.items() if name not in skipped]
            for name in skipped.keys() & named.keys():
                if skipped[name] is OF_GRAPHS and type(named[name]) is not list:
                    values = named[name]  # a list of Keras or of TensorFlow, whose items are left out
                    found += attributes(values, self.plan(type(values))).values()
            call = call_of(thing) if isinstance(thing, self.TENSOR) else None
            found += () if call is None else [call]
        else:
            found = list(named.values())
        if plan.is_container:
            found += items(thing)
        return found

    def walk_functions(self) -> None:
        """Walk over what functions lead to, where they lead to the model; forget all other functions."""
        leading: dict[int, bool] = {}
        done: set[int] = set()
        while set(self.functions) - done:
            for function in [self.functions[key] for key in set(self.functions) - done]:
                done.add(id(function))
                if self._leads(function, leading):
                    self.walk(*(part for part in contents(function) if self._leads(part, leading)))
        self.functions = {key: value for key, value in self.functions.items() if leading.get(key)}

    def _leads(self, thing: Any, leading: dict[int, bool]) -> bool:
        """Whether something leads to an object of the model that is no container, by whatever way."""
        if id(thing) in leading:
            return leading[id(thing)]
        seen, waiting = {id(thing)}, [thing]
        found = type(thing) in WEAK  # a container, of which the clone has its own
        while waiting and not found and len(seen) < MOST_REFERENTS:
            part = waiting.pop()
            plan = self.plan(type(part))
            kind = plan.kind
            if kind is Kind.SHARED or kind is Kind.FRAMEWORK:
                continue
            if id(part) in self.owned and kind is Kind.OBJECT and not plan.is_container:
                found = True
            elif kind is Kind.FUNCTION or id(part) not in self.owned:
                parts = contents(part) if kind is Kind.FUNCTION else referents(part)
                waiting.extend(each for each in parts if id(each) not in seen)
                seen.update(map(id, parts))
        leading[id(thing)] = found
        return found


class _Missing:
    """In place of an attribute that a clone does not have, or has of its own graphs."""


MISSING, OF_GRAPHS = _Missing(), _Missing()


def is_plain(cls: type) -> bool:
    """Whether an object of a class is what its attributes and its items say: nothing says how it is copied."""
    for base in cls.__mro__:
        if not base.__flags__ & HEAP_TYPE:
            if base not in (object, *CONTAINERS, collections.OrderedDict, collections.defaultdict):
                return False
        elif any(name in vars(base) for name in COPY_METHODS) and base is not collections.Counter:
            return False
    return cls is not object


def attributes(thing: Any, plan: Plan) -> dict[str, Any]:
    """What an object has in its `__dict__` and in its slots."""
    try:
        found: dict[str, Any] = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        found = {}
    if plan.slots:
        found = dict(found)
        for name in plan.slots:
            with contextlib.suppress(AttributeError):
                found[name] = object.__getattribute__(thing, name)
    return found


def items(thing: Any) -> Iterator[Any]:
    """What is in a container, past any method of its class."""
    if isinstance(thing, dict):
        yield from dict.keys(thing)
        yield from dict.values(thing)
        if isinstance(thing, collections.defaultdict):
            yield thing.default_factory
    elif isinstance(thing, list):
        yield from list.__iter__(thing)
    elif isinstance(thing, set):
        yield from set.__iter__(thing)
    elif isinstance(thing, collections.deque):
        yield from collections.deque.__iter__(thing)


def referents(thing: Any) -> list[Any]:
    if isinstance(thing, np.ndarray):
        return list(thing.flat) if thing.dtype == object else []
    own = getattr(thing, "__dict__", None)
    found = [part for part in gc.get_referents(thing) if part is not own]
    return found if own is None else [*found, *own.values()]


def contents(function: Any) -> list[Any]:
    """What a function, or what is like one, holds."""
    if isinstance(function, types.FunctionType):
        cells = [cell_contents(cell) for cell in function.__closure__ or ()]
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        return [*cells, *defaults, *vars(function).values()]
    if isinstance(function, types.MethodType):
        return [function.__func__, function.__self__]
    if isinstance(function, types.BuiltinMethodType):
        return [] if isinstance(function.__self__, types.ModuleType) else [function.__self__]
    if isinstance(function, functools.partial):
        return [function.func, *function.args, *function.keywords.values()]
    if isinstance(function, functools._lru_cache_wrapper):
        return [function.__wrapped__]
    if isinstance(function, weakref.ref):
        return [function()]
    if isinstance(function, weakref.WeakSet):
        return list(function)
    if isinstance(function, weakref.WeakKeyDictionary | weakref.WeakValueDictionary):
        return [part for pair in function.items() for part in pair]
    return [function.python_function]


def cell_contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return MISSING


def layer_of(call: Any) -> Any:
    """What was called: an operation in Keras 3, a layer in tf_keras."""
    return call.operation if hasattr(call, "operation") else call.layer


def call_of(tensor: Any) -> Any:
    """The call that gave a symbolic tensor, if there is one."""
    layer, number, _ = getattr(tensor, "_keras_history", None) or (None, 0, 0)
    calls = () if layer is None else layer._inbound_nodes
    return calls[number] if number < len(calls) else None


def deep_copy(thing: Any, memo: dict[int, Any]) -> Any:
    """A copy as the class of an object says."""
    if isinstance(thing, types.MappingProxyType):
        return types.MappingProxyType(copy.deepcopy(dict(thing), memo))
    return copy.deepcopy(thing, memo)
