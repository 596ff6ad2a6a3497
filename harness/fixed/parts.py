"""The contents of objects; copies of functions and framework resources."""

from __future__ import annotations

import collections
import contextlib
import copy
import dis
import functools
import gc
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

CopyOf = Callable[[Any], Any]
EMPTY_CELL = types.CellType()
WEAK_COLLECTIONS = (weakref.WeakSet, weakref.WeakKeyDictionary, weakref.WeakValueDictionary)
BACKENDS = frozenset(["tensorflow", "jax", "jaxlib", "flax", "torch", "google", "wrapt", "absl", "ml_dtypes", "h5py"])
FRAMEWORKS = BACKENDS | {"inspect", "typing", "re"}
LIBRARIES = {*FRAMEWORKS, "keras", "tf_keras", "keras_hub", "numpy", *sys.stdlib_module_names} - {"__main__"}
"""Packages whose functions refer to no model of the user by a global."""
LOCKS: dict[type, Any] = {type(threading.Lock()): threading.Lock, type(threading.RLock()): threading.RLock}


def namespace(obj: Any) -> dict[str, Any]:
    try:
        values: dict[str, Any] = object.__getattribute__(obj, "__dict__")
    except AttributeError:
        values = {}
    return values


def attributes(obj: Any, plan: Any) -> dict[str, Any]:
    """An object's attributes in its `__dict__` and slots."""
    values = namespace(obj)
    if plan.slots:
        values = dict(values)
        for name in plan.slots:
            with contextlib.suppress(AttributeError):
                values[name] = object.__getattribute__(obj, name)
    return values


def items(obj: Any, base: Any) -> list[Any]:
    """A container's items, read by the methods of its builtin class `base`."""
    if not issubclass(base, dict):
        return list(base.__iter__(obj))
    factory = [obj.default_factory] if isinstance(obj, collections.defaultdict) else []
    return [*base.keys(obj), *base.values(obj), *factory]


def fill_items(obj: Any, new: Any, base: Any, copy_of: CopyOf, is_left_out: Callable[[Any], bool]) -> None:
    """Copy a container's items to `new` by the methods of `base`."""
    if issubclass(base, dict):
        for key, value in base.items(obj):
            base.__setitem__(new, copy_of(key), copy_of(value))
        if isinstance(obj, collections.defaultdict):
            new.default_factory = copy_of(obj.default_factory)
    elif base is list:
        list.extend(new, [copy_of(item) for item in list.__iter__(obj) if not is_left_out(item)])
    else:
        (set.update if base is set else collections.deque.extend)(new, map(copy_of, base.__iter__(obj)))


def layer_of(call: Any) -> Any:
    """The operation (Keras 3) or layer (tf_keras) of a call."""
    return call.operation if hasattr(call, "operation") else call.layer


def call_of(tensor: Any) -> Any:
    """The call that produced a symbolic tensor, if any."""
    layer, index, _ = getattr(tensor, "_keras_history", None) or (None, 0, 0)
    calls = () if layer is None else layer._inbound_nodes
    return calls[index] if index < len(calls) else None


def referents(obj: Any) -> list[Any]:
    if isinstance(obj, np.ndarray):
        return list(obj.flat) if obj.dtype == object else []
    values = getattr(obj, "__dict__", {})
    return [*(part for part in gc.get_referents(obj) if part is not values), *values.values()]


def _copy_of_closure(function: types.FunctionType, copy_of: CopyOf, memo: dict[int, Any]) -> Any:
    closure = function.__closure__ or ()
    values = globals_of(function)
    cells = tuple(types.CellType() for _ in closure)
    namespace = Globals(function) if values else function.__globals__
    new = types.FunctionType(function.__code__, namespace, function.__name__, None, cells)
    memo[id(function)] = new
    if isinstance(namespace, Globals):
        namespace.store({name: copy_of(value) for name, value in values.items()})
    for cell, original in zip(cells, closure, strict=True):
        if original != EMPTY_CELL:
            cell.cell_contents = copy_of(original.cell_contents)
    defaults = function.__defaults__
    keywords = function.__kwdefaults__
    new.__defaults__ = defaults and tuple(map(copy_of, defaults))
    new.__kwdefaults__ = keywords and {name: copy_of(value) for name, value in keywords.items()}
    for name in ("__qualname__", "__doc__", "__module__", "__annotations__"):
        setattr(new, name, getattr(function, name))
    vars(new).update((name, copy_of(value)) for name, value in vars(function).items())
    return new


class Globals(dict[str, Any]):
    """The globals of a copied function; other names are read from the module.

    The dict holds the objects of the clone, and the globals that the function writes.
    """

    def __init__(self, function: types.FunctionType) -> None:
        self.module = module = function.__globals__
        names = ("__name__", "__builtins__", *names_in(function.__code__, "STORE_GLOBAL"))
        super().__init__((name, module[name]) for name in names if name in module)

    def store(self, values: dict[str, Any]) -> None:
        """Store the `values` that differ from those in the module."""
        self.update((name, value) for name, value in values.items() if value is not self.module[name])

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self.module

    def __missing__(self, name: str) -> Any:
        return self.module[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401 - this is `get` itself


def globals_of(function: types.FunctionType) -> dict[str, Any]:
    """The globals of a user's function by name, without modules and classes."""
    module = function.__globals__
    if str(module.get("__name__")).partition(".")[0] in LIBRARIES:
        return {}
    values = {name: module[name] for name in names_in(function.__code__, "LOAD_GLOBAL", "LOAD_NAME") if name in module}
    return {name: value for name, value in values.items() if not isinstance(value, type | types.ModuleType)}


def objects_in_closures(cls: type) -> list[tuple[str, Any]]:
    """The objects in the closures of a user's class, each with the method's name."""
    bases = [base for base in cls.__mro__ if base.__module__.partition(".")[0] not in LIBRARIES]
    methods = [method for base in bases for method in vars(base).values() if isinstance(method, types.FunctionType)]
    cells = [(method.__name__, cell) for method in methods for cell in method.__closure__ or ()]
    return [(name, cell.cell_contents) for name, cell in cells if cell != EMPTY_CELL]


@functools.lru_cache(maxsize=4096)
def names_in(code: types.CodeType, *operations: str) -> frozenset[str]:
    """The names that `operations` use in code and its nested functions."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in operations}
    inner = (names_in(item, *operations) for item in code.co_consts if isinstance(item, types.CodeType))
    return frozenset(names.union(*inner))


def _copy_of_partial(partial: functools.partial[Any], copy_of: CopyOf) -> Any:
    keywords = {name: copy_of(value) for name, value in partial.keywords.items()}
    return type(partial)(copy_of(partial.func), *map(copy_of, partial.args), **keywords)


COPY_FUNCTIONS: dict[type, Callable[[Any, CopyOf], Any]] = {
    types.MethodType: lambda method, copy_of: types.MethodType(copy_of(method.__func__), copy_of(method.__self__)),
    functools.partial: _copy_of_partial,
    functools._lru_cache_wrapper: lambda f, copied: functools.lru_cache(**f.cache_parameters())(copied(f.__wrapped__)),
    weakref.ref: lambda reference, copy_of: reference if reference() is None else weakref.ref(copy_of(reference())),
    weakref.WeakSet: lambda objects, copy_of: weakref.WeakSet([copy_of(obj) for obj in objects]),
    weakref.WeakKeyDictionary: lambda obj, copy_of: type(obj)({copy_of(key): copy_of(obj[key]) for key in obj}),
    weakref.WeakValueDictionary: lambda obj, copy_of: type(obj)({copy_of(key): copy_of(obj[key]) for key in obj}),
}
"""By class, how to copy an object that refers to the model."""


def copy_of_function(function: Any, copy_of: CopyOf, memo: dict[int, Any]) -> Any:
    """Copy a function or similar object; `copy_of` returns the copy of each part."""
    if isinstance(function, types.FunctionType):
        return _copy_of_closure(function, copy_of, memo)
    for cls, copy_object in COPY_FUNCTIONS.items():
        if isinstance(function, cls):
            return copy_object(function, copy_of)
    return function._clone(copy_of(function.python_function))  # a `tf.function`, which is traced again


def contents(function: Any) -> list[Any]:
    """The objects to which a function refers."""
    if isinstance(function, types.FunctionType):
        cells = [cell.cell_contents for cell in function.__closure__ or () if cell != EMPTY_CELL]
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        return [*cells, *defaults, *vars(function).values(), *globals_of(function).values()]
    parts: list[Any] = []

    def copy_of(part: Any) -> Any:
        parts.append(part)
        return part

    copy_of_function(function, copy_of, {})
    return parts


def strategy_of_model(_: Any) -> Any:
    """The TensorFlow strategy of the current scope, or None."""
    return strategy_of_optimizer(_) if sys.modules["tensorflow"].distribute.has_strategy() else None


def strategy_of_optimizer(_: Any) -> Any:
    """The TensorFlow strategy of the current scope, or else the default one."""
    return sys.modules["tensorflow"].distribute.get_strategy()


def copy_of_resource(obj: Any, memo: dict[int, Any]) -> Any:
    """Copy a framework object with state: table, variable, torch tensor, lock."""
    if type(obj) in LOCKS:
        return LOCKS[type(obj)]()
    if hasattr(obj, "_copy_trackable_to_cpu") and hasattr(obj, "_resource_handle"):
        copies: dict[Any, Any] = {}
        with contextlib.suppress(NotImplementedError, AttributeError):  # the table cannot change
            obj._copy_trackable_to_cpu(copies)
        return copies.get(obj, obj)
    if hasattr(obj, "_iterator_resource"):
        raise TypeError("the position of an iterator cannot be read")
    if hasattr(obj, "untyped_storage"):  # torch's, which may share its memory with a variable
        return obj.detach().clone()
    has_state = hasattr(obj, "named_parameters") or hasattr(obj, "assign_add")
    return copy.deepcopy(obj, memo) if has_state else obj
