"""How objects of each class are copied.

A model and its clone share classes, modules, tensors, stateless objects of frameworks, and functions that do not refer
to the model. All other objects, such as layers and variables, are copied.
"""

from __future__ import annotations

import collections
import copyreg
import enum
import io
import logging
import socket
import subprocess
import threading
import types
import weakref
from typing import Any

import numpy as np

from clonediff.harness.fixed.parts import COPY_FUNCTIONS, FRAMEWORKS, LOCKS

CONTAINERS: tuple[Any, ...] = (list, collections.OrderedDict, dict, set, collections.deque)
ATOMS = frozenset(
    [
        *(type(None), bool, int, float, complex, bytes, str, range, slice, object, type(...), type(NotImplemented)),
        *(type, types.CodeType, types.CellType, types.GenericAlias, types.UnionType),
        *(property, staticmethod, classmethod, types.WrapperDescriptorType, types.MethodDescriptorType),
        *(types.MethodWrapperType, types.GetSetDescriptorType),
    ]
)
KEPT_CLASSES = ATOMS - {str}  # a string may be a name to replace
SHARED_CLASSES = (
    *(type, types.ModuleType, enum.Enum, np.generic, np.dtype, np.ufunc),
    *(io.IOBase, socket.socket, subprocess.Popen, threading.Thread, logging.Logger, logging.Handler),
)
"""Classes of immutable objects, and of resources such as files and threads."""
TF_REFERENCES = ("TrackableReference", "WeakTrackableReference")
TRACKING_ATTRIBUTES = (
    *("_self_unconditional_checkpoint_dependencies", "_self_unconditional_dependency_names", "_self_update_uid"),
    *("_self_unconditional_deferred_dependencies", "_self_name_based_restores", "_self_saveable_object_factories"),
)
"""Attributes that TensorFlow adds to keep track of other attributes."""
COPY_METHODS = (
    *("__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__"),
    *("__getnewargs__", "__getnewargs_ex__", "__getstate__", "__setstate__"),
)
HEAP_TYPE = 1 << 9  # the flag of a class in Python code
Rules = dict[Any, dict[str, Any]]
"""By class and attribute, the value that a clone gets, as in `Plan.rules`."""


class Marker(enum.Enum):
    """A special value in a table of rules."""

    MISSING = "the clone does not have the attribute"
    CALLS = "only the calls that belong to a copied graph"


class Way(enum.Enum):
    """How an object is copied."""

    SHARED = "the same object"
    FRAMEWORK = "shared, unless it has state"
    FUNCTION = "shared, unless it refers to the model"
    OBJECT = "a new object with copies of the attributes and items"
    TUPLE = "a new tuple, but only if an item is copied"
    PROTOCOL = "copied by `copy.deepcopy`"


class Plan:
    """How the objects of a class are copied."""

    def __init__(self, cls: type, way: Way, rules: dict[str, Any]) -> None:
        self.way = way
        self.rules = rules
        """By attribute, what a copy gets: a value, a function of the value, or a marker."""
        self.leaves_out_variables = False
        self.is_function = way is Way.FUNCTION
        self.is_copied = way not in (Way.SHARED, Way.FRAMEWORK, Way.FUNCTION)
        self.is_list_or_dict = cls in (list, dict)
        self.container = next((base for base in CONTAINERS if issubclass(cls, base)), None)
        self.fills_last = issubclass(cls, (dict, set))
        """Whether filling a copy computes hashes of its items, which must be complete."""
        self.proxy_class: Any = next((base for base in cls.__mro__ if base.__module__.split(".")[0] == "wrapt"), None)
        self.slots: list[str] = copyreg._slotnames(cls)  # type: ignore[attr-defined]
        constructors = (vars(base).get("__new__") for base in cls.__mro__)
        self.create = next((new for new in constructors if isinstance(new, types.BuiltinMethodType)), object.__new__)


def way_of(cls: type, modules: tuple[str, ...], variable_class: Any) -> Way:
    """How objects of a class are copied: as `OBJECT` if a base is in `modules`."""
    bases = [base.__module__ for base in cls.__mro__]
    package = cls.__module__.partition(".")[0]
    if cls in ATOMS or issubclass(cls, SHARED_CLASSES):
        return Way.SHARED
    is_tf_function = cls.__name__ == "Function" and cls.__module__.startswith("tensorflow.python.eager.polymorphic")
    if cls is types.FunctionType or cls in COPY_FUNCTIONS or issubclass(cls, weakref.ref) or is_tf_function:
        return Way.FUNCTION
    if cls.__name__ == "_TupleWrapper":  # a class of TensorFlow
        return Way.PROTOCOL
    if cls in (tuple, frozenset) or (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        return Way.TUPLE
    if (
        any(base.startswith(modules) for base in bases)
        or cls.__name__ in TF_REFERENCES
        or issubclass(cls, variable_class)
    ):
        return Way.OBJECT
    if package in FRAMEWORKS or cls in LOCKS:
        return Way.FRAMEWORK
    return Way.OBJECT if is_plain(cls) else Way.PROTOCOL


def is_plain(cls: type) -> bool:
    """Whether objects of a class have attributes and items only, no copy methods."""
    for base in cls.__mro__:
        if not base.__flags__ & HEAP_TYPE:
            if base not in (object, *CONTAINERS, collections.defaultdict):
                return False
        elif any(name in vars(base) for name in COPY_METHODS) and base is not collections.Counter:
            return False
    return True
