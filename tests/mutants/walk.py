"""The places in a model that hold a value: attributes, items, and variables of closures.

This module shares no code with the comparison, which it judges. The walk does not enter modules, classes and objects
of a backend.
"""

from __future__ import annotations

import collections
import copyreg
import functools
import types
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

SCRIPTS = ("__main__", "a_script")
"""The modules of user code."""
KERAS = ("keras", "tf_keras")
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)
_BACKENDS = ("tensorflow", "numpy", "google", "wrapt", "threading", "weakref", "inspect")
_INTERNALS = ("Node", "KerasTensor", "Tracker", "SymbolicArguments")
"""Keras classes that register objects or hold the graph, which has its own operator."""
TRAINING_CLASSES = ("Loss", "Metric", "Optimizer", "LearningRateSchedule")
_PUBLIC_BASES = ("Layer", "Variable", *TRAINING_CLASSES)
_LEAF_CLASSES = (type, types.ModuleType, types.CodeType, types.BuiltinFunctionType, property)

PLACES_WITHOUT_EFFECT = {
    "*.build|*.quantize|*.result|*.update_state|*.reset_state": "Keras wraps the method for each object, stateless",
    "*.call_signature_parameters": "the signature of the class's `call`",
    "*._function": "Keras compiles it again when a model is trained",
    "*.built": "the next call sets it",
    "*.stop_training|*.history": "`fit` sets it",
    "*._steps_per_execution": "an argument of `compile` in a variable (tf_keras)",
    "InputLayer.is_placeholder": "a clone has new inputs, as documented",
    "*.input_names|*.output_names": "the comparison of inputs and outputs covers the names",
    "Normalization.mean|Normalization.variance": "computed from the weights when these are set (tf_keras)",
    "CompileLoss.name|CompileLoss.reduction|CompileMetrics.name|CompileMetrics._dtype*": "no code reads them",
    "*._self_unconditional*": "TensorFlow tracks the attributes here, to save them",
    "*._ndim": "a copy of the rank that the shape has",
    "*._loss_tracker|*._total_loss_mean": "reset when a model is trained",
    "DTypePolicy.*|Policy.*|*._dtype_policy": "policies are never changed, and are shared by all layers",
}
"""Places whose value has no effect: patterns of class and attribute, with the reason."""


class Place(NamedTuple):
    """A place in a model: the holder, the key and the value; `path` is its path in Python."""

    path: str
    holder: Any
    step: str
    """An "attribute", an "item", a "cell", or "" if it cannot be set."""
    key: Any
    value: Any
    outer: Place | None

    @property
    def attribute(self) -> Place:
        """The place itself, or the attribute that contains it."""
        return self if self.step == "attribute" or self.outer is None else self.outer.attribute

    @property
    def kind(self) -> str:
        """The class and the attribute."""
        return f"{type(self.attribute.holder).__name__}.{self.attribute.key}"

    @property
    def changed_object(self) -> Any:
        """The object that changes when the place is set; a tuple does not change, but is replaced."""
        is_replaced = isinstance(self.holder, (tuple, set, frozenset)) and self.outer is not None
        return self.outer.changed_object if is_replaced and self.outer else self.holder

    @property
    def is_user_defined(self) -> bool:
        """Whether a user-defined class or function holds the place."""
        holder, name = self.attribute.holder, self.attribute.key
        if isinstance(holder, types.FunctionType):
            return True
        packages = {base.__module__.partition(".")[0] for base in type(holder).__mro__}
        return packages.isdisjoint((*KERAS, *_BACKENDS)) or name in _names_of_code(type(holder))

    @property
    def is_private(self) -> bool:
        """Whether the place is a private attribute of a Keras class."""
        return not self.is_user_defined and self.attribute.key[:1] == "_"

    @property
    def is_reachable(self) -> bool:
        """Whether users can reach the place by public attributes."""
        place, outer = self.attribute, self.attribute.outer
        if self.is_private and (isinstance(place.value, CONTAINERS) or not hasattr(type(place.holder), place.key[1:])):
            return False
        return has_base(place.holder, _PUBLIC_BASES) or outer is None or outer.is_reachable

    @property
    def has_no_effect(self) -> bool:
        """Whether a change of the place has no effect."""
        if any(fnmatchcase(self.kind, pattern) for row in PLACES_WITHOUT_EFFECT for pattern in row.split("|")):
            return True
        return self.attribute.outer is not None and self.attribute.outer.has_no_effect

    def put(self, value: Any) -> None:
        """Set the value so that Keras does not track it; replace an immutable container."""
        if self.step == "cell":
            self.key.cell_contents = value
        elif self.step == "attribute" and self.key in getattr(self.holder, "__dict__", ()):
            vars(self.holder)[self.key] = value
        elif self.step == "attribute":
            object.__setattr__(self.holder, self.key, value)
        elif isinstance(self.holder, (tuple, set, frozenset)) and self.outer is not None:
            items = [value if item is self.value else item for item in self.holder]
            self.outer.put(getattr(type(self.holder), "_make", type(self.holder))(items))
        else:
            _container(self.holder).__setitem__(self.holder, self.key, value)

    def drop(self) -> None:
        """Delete the attribute or item."""
        if self.step == "attribute":
            vars(self.holder).pop(self.key)
        else:
            _container(self.holder).__delitem__(self.holder, self.key)


def _container(holder: Any) -> Any:
    """Return the builtin class of a container; Keras does not track calls of its methods."""
    plain = dict if isinstance(holder, dict) else list
    return plain if package(holder) in KERAS else type(holder)


def package(item: Any) -> str:
    """Return the package that defines the class of an object."""
    return str(type(item).__module__).partition(".")[0]


def has_base(item: Any, names: tuple[str, ...]) -> bool:
    """Whether a class or base of an object has one of these names."""
    return any(base.__name__ in names for base in type(item).__mro__)


@functools.cache
def _names_of_code(kind: type) -> frozenset[str]:
    """Return the names that methods of the user-defined classes among the bases use."""
    members = [member for base in kind.__mro__ if base.__module__ in SCRIPTS for member in vars(base).values()]
    codes = [member.__code__ for member in members if isinstance(member, types.FunctionType)]
    return frozenset(name for code in codes for name in code.co_names)


def walk(model: Any) -> list[Place]:
    """Return all places in a model, each with its shortest path."""
    places, entered_ids = [], {id(model)}
    queue = collections.deque([Place("model", None, "", "model", model, None)])
    while queue:
        outer = queue.popleft()
        for step, key, value, text in _steps_into(outer.value):
            place = Place(outer.path + text, outer.value, step, key, value, outer)
            places.append(place)
            if id(value) not in entered_ids and _is_entered(value):
                entered_ids.add(id(value))
                queue.append(place)
    return places


def _is_entered(value: Any) -> bool:
    if isinstance(value, (*CONTAINERS, types.MethodType)):
        return True
    if isinstance(value, types.FunctionType):  # all models share the functions of packages
        return value.__module__ in SCRIPTS
    if isinstance(value, _LEAF_CLASSES) or package(value) in _BACKENDS or type(value).__name__ in _INTERNALS:
        return False
    return hasattr(value, "__dict__") or bool(copyreg._slotnames(type(value)))


def _steps_into(value: Any) -> Iterator[tuple[str, Any, Any, str]]:
    """Yield the places in an object: step, key, value, and the Python text of the step."""
    if isinstance(value, dict):
        yield from (("item", key, item, f"[{key!r}]") for key, item in value.items() if isinstance(key, (str, int)))
        return
    if isinstance(value, CONTAINERS):
        items = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
        yield from (("item", number, item, f"[{number}]") for number, item in enumerate(items))
        return
    names = {*getattr(value, "__dict__", ()), *copyreg._slotnames(type(value))}
    if isinstance(value, types.FunctionType):
        for number, cell in enumerate(value.__closure__ or ()):
            yield "cell", cell, cell.cell_contents, f".__closure__[{number}]"
        names = {"__defaults__", "__kwdefaults__"}
    for name in ("__self__", "func", "args", "keywords"):
        if isinstance(value, (types.MethodType, functools.partial)) and hasattr(value, name):
            yield "", name, getattr(value, name), f".{name}"
    for name in sorted(name for name in names if isinstance(name, str)):
        held = vars(value) if name in getattr(value, "__dict__", ()) else {name: getattr(value, name, None)}
        yield "attribute", name, held[name], f".{name}"
