"""Finds what a clone shares with its original. Walks over all objects that Python's garbage collector knows."""

from __future__ import annotations

import collections
import enum
import functools
import gc
import types
import weakref

import numpy as np

UNCHANGING = (type(None), bool, int, float, complex, str, bytes, type, types.ModuleType, types.CodeType, object)
FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial, functools._lru_cache_wrapper)
SHARED = (*FUNCTIONS, types.BuiltinFunctionType, types.CellType, types.MappingProxyType, weakref.ref, tuple, frozenset)
"""What a clone may share, unless it leads to something that it may not share."""
CONTAINERS = (list, dict, set, collections.deque, np.ndarray)
STANDARD = {"inspect", "enum", "_io", "builtins", "abc", "typing"}
FRAMEWORKS = {"tensorflow", "jax", "jaxlib", "torch", "numpy", "ml_dtypes", *STANDARD}
"""Packages whose objects are shared, but for variables, arrays, containers, and what TensorFlow tracks."""


def leads_back(model, clone):
    """The paths from a clone to objects of its original that can change, and to their ids, as lines of text."""
    own = {key: thing for key, (thing, _) in reached(model, through_functions=False).items()}
    texts, lines = {str(key) for key in own}, []
    for key, (thing, path) in reached(clone, through_functions=True, stop=own).items():
        if key in own and not isinstance(thing, SHARED):
            lines.append(f"leads back: {path}")
        elif isinstance(thing, (dict, set, list, tuple)):
            names = [item for item in thing if type(item) in (int, str)]
            if any(item in own if type(item) is int else item.split("_")[0] in texts for item in names):
                lines.append(f"names an object of the original: {path}")
    return lines


def reached(root, through_functions, stop=()):
    """What an object leads to, by `id`, with a path; not through classes, modules, and objects of frameworks.

    A function may be shared with all that it holds; so of the original, only what is reached without functions counts.
    """
    things, waiting = {}, [(root, type(root).__name__)]
    while waiting:
        thing, path = waiting.pop()
        if id(thing) in things or type(thing) in UNCHANGING or isinstance(thing, type) or is_of_framework(thing):
            continue
        things[id(thing)] = thing, path
        is_function, is_shared = isinstance(thing, FUNCTIONS), isinstance(thing, SHARED)
        if (is_shared or id(thing) not in stop) and (through_functions or not is_function):
            waiting += [(part, f"{path[-200:]}.{type(part).__name__}") for part in parts_of(thing)]
    return things


def parts_of(thing):
    if isinstance(thing, weakref.ref):
        return [thing()]
    if isinstance(thing, types.FunctionType):  # not its module
        return [thing.__closure__, thing.__defaults__, thing.__kwdefaults__, vars(thing)]
    if isinstance(thing, np.ndarray):
        return list(thing.flat) if thing.dtype == object else []
    return [] if is_raw_variable(thing) else gc.get_referents(thing)


def is_raw_variable(thing):
    return hasattr(thing, "assign") and type(thing).__module__.startswith("tensorflow.")


def is_of_framework(thing):
    module = type(thing).__module__
    if isinstance(thing, (*SHARED, *CONTAINERS)) or is_raw_variable(thing):
        return False
    if module.startswith("tensorflow.python.trackable"):
        return type(thing).__name__ == "AttributeSentinel"  # TensorFlow compares it by identity
    return module.partition(".")[0] in FRAMEWORKS or isinstance(thing, enum.Enum)
