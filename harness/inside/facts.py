"""Reads the attributes of a model, its layers and its `compile` arguments, at any depth.

The key of a fact is its Python path from the layer: ".kernel_initializer.seed", ".arguments['by'][0]". There is no
allowlist of attributes. A mutable object is read where the walk meets it first; elsewhere the fact refers to that
path. Facts also refer to layers, variables and tensors of the model, which `harness/trials/checks/facts.py` aligns.
"""

from __future__ import annotations

import collections
import functools
import re
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from clonediff.harness.inside.attributes import (
    CONTAINERS,
    OPAQUE,
    PLAIN,
    is_value,
    names_of,
    names_of_packages,
    properties,
)
from clonediff.harness.inside.canonical import class_code, contents, entry, globals_of, text, without_addresses
from clonediff.harness.inside.digests import short_hash
from clonediff.harness.inside.layers import Layers
from clonediff.harness.inside.observer import Observer
from clonediff.harness.inside.packages import is_user_defined, root_of
from clonediff.harness.inside.structure import items_of
from clonediff.harness.observation import NO_LAYER, Fact

_DEEPEST = 16
"""Deeper objects are compared by their text, since properties can create new objects without end."""
_LONGEST_CONTAINER = 1000
"""Longer containers are compared as one value."""
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type, types.ModuleType)
_WRAPPERS = OPAQUE | {"functools"}
_NAMES = frozenset(["name", "_name", "_path", "_parent_path"])
_NOT_COMPARED = _NAMES | {"trainable", "_trainable", "input_mask", "output_mask", "distribute_strategy"}
"""Compared per layer or call: tensors may have later masks, strategies are the caller's."""
_GRAPH_ATTRIBUTES = frozenset(["_inputs", "_outputs"])
"""Attributes compared with the calls of the layers."""
_LEFT_BY_TRAINING = frozenset([".metrics", ".metrics_names", ".metrics_variables", ".optimizer.learning_rate"])
"""Attributes that training before cloning may have left in a model."""
_COUNTED = re.compile(r"(_\d+)+$")


class Facts:
    """The facts of a model: `of[0]` of the model, `of[1 + n]` of layer n.

    Keeps every object that it has read alive, so that no `id` is reused.
    """

    def __init__(self, layers: Layers, variables: list[Any], observer: Observer, original: Facts | None = None) -> None:
        self.of: list[dict[str, Fact]] = []
        self._read: list[Any] = []
        self.other_variables: list[Any] = []
        """Variables that are no weights or states of the model, as of an optimizer."""
        self._observer, self._framework = observer, observer.framework
        self._places = layers
        self._layers = {**layers.index, id(layers.model): -1}
        self._variables = {id(variable): number for number, variable in reversed([*enumerate(variables)])}
        self._changing: dict[int, Any] = {}
        """Mutable objects; whether two attributes share one is a fact."""
        self.functions: list[Any] = []
        self._parts_of_original = set() if original is None else {*original._layers, *original._variables}
        self._first: dict[int, tuple[int, str]] = {}
        self._in_values = 0
        self._functions: collections.deque[tuple[int, str, Any]] = collections.deque()
        """Functions whose contents are read after everything else."""
        owners = layers.objects()
        self._named: dict[str, int] = {}
        """The layer with each name; `NO_LAYER` if several layers have it."""
        for number, name in enumerate((str(getattr(owner, "name", "")) for owner in owners), -1):
            self._named[name] = NO_LAYER if name in self._named else number
        self._stems = {_COUNTED.sub("", name) for name in self._named}
        self._calls = {type(node) for owner in owners[1:] for node in self._framework.layer_nodes(owner)}
        self._texts: dict[str, Fact] = {}
        for number, owner in enumerate(owners, -1):
            self.of.append({})
            self._enter(number)
            if self._layers[id(owner)] == number:
                self._attributes("", owner, 0)
        self._enter(-1)
        for path, value in _items_in("._compile_config.config", self._framework.compile_arguments(layers.model)):
            self._read_value(path, value, 1)
        self._read_functions()

    def _enter(self, number: int) -> None:
        self._number, self._facts = number, self.of[1 + number]

    def _attributes(self, path: str, owner: Any, depth: int) -> bool:
        """Read the attributes of an object, and return whether any value is mutable."""
        changes, kind = False, type(owner)
        names, held = names_of(owner, self._observer.private)
        for name in sorted(names.union(properties(kind)) - (frozenset() if path else _NOT_COMPARED)):
            here = f"{path}.{name}"
            if here in _LEFT_BY_TRAINING and self._number < 0 and self._observer.values_by_chance:
                continue
            try:
                value = getattr(owner, name)
                if callable(value) and hasattr(value, "__wrapped__") and callable(getattr(kind, name, None)):
                    continue  # a method that Keras has wrapped for this object
                if name == "name" and type(value) is str and _counts(value, kind.__name__):
                    value = _COUNTED.sub("", value)
                if name == "seed" and type(value) is int and owner.get_config().get("seed", value) is None:
                    value = None  # it was drawn, not passed
            except Exception as error:  # a property of a model that is not ready for it
                self._facts[here] = Fact(f"raises {type(error).__name__}")
                continue
            of_package = name in names_of_packages(kind) and (name not in held or name in _GRAPH_ATTRIBUTES)
            if of_package and self._is_list_of_parts(value):
                self._facts[here] = Fact(_name_of_a_container(value))  # a property such as `weights` or `losses`
                continue
            changes = self._read_value(here, value, depth + 1) or changes
        return changes

    def _is_list_of_parts(self, value: Any) -> bool:
        """Whether a value is a list of layers, variables, calls or tensors, compared elsewhere."""
        return isinstance(value, (list, tuple)) and all(
            id(item) in self._variables
            or id(item) in self._layers
            or type(item) in self._calls
            or isinstance(item, self._framework.tensor_class)
            or _is_tensor(item)
            for item in value
        )

    def _read_value(self, path: str, value: Any, depth: int) -> bool:
        """Read a value, and return whether it, or any value in it, is mutable."""
        kind = type(value)
        if kind in PLAIN:
            self._facts[path] = self._text(value) if kind is str else Fact(repr(value))
            return False
        reference = self._reference(value)
        if reference is None and id(value) in self._parts_of_original:
            self._facts[path] = Fact(kind.__name__)  # `leaks` reports it
            return False
        self._read.append(value)
        if reference is not None:
            self._facts[path] = reference
            return False
        if isinstance(value, self._framework.variable_class):
            self.other_variables.append(value)
            shape = f"a variable of {value.shape}, {value.dtype}"
            whole = shape if self._observer.values_by_chance else self._array(self._framework.read(value))
            self._facts[path] = Fact(whole, detail=str(getattr(value, "trainable", "")))
            return True
        whole = self._whole(path, value, kind)
        if whole or depth > _DEEPEST:
            self._facts[path] = Fact(whole or entry(value))
            return False
        if id(value) in self._changing and not self._in_values:
            self._facts[path] = Fact(met=self._first[id(value)])
            return True
        if not self._in_values:
            self._first[id(value)] = self._number, path
            self._changing[id(value)] = value  # for now: it may contain itself
        changes = self._look_into(path, value, depth)
        if not changes and not self._in_values:
            del self._changing[id(value)]
        return changes

    def _reference(self, value: Any) -> Fact | None:
        if id(value) in self._layers:
            return Fact("a layer", layer=self._layers[id(value)])
        if id(value) in self._variables:
            return Fact("a variable", variable=self._variables[id(value)])
        if isinstance(value, self._framework.tensor_class):
            shape = "a tensor of {}".format(getattr(value, "shape", ""))  # the call has its dtype
            return Fact(shape, tensor=self._places.tensor_of_any_graph(value), detail=class_code(type(value)))
        return None

    def _whole(self, path: str, value: Any, kind: Any) -> str:
        """The text of a value that is compared as a whole, "" for others."""
        if isinstance(value, functools.partial):
            self._functions.append((self._number, path, value))
            return "partial"
        function = _unwrapped(value)
        if isinstance(function, _CODE):
            if isinstance(function, (types.FunctionType, types.MethodType)):
                self._functions.append((self._number, path, function))
            return f"module {function.__name__}" if isinstance(function, types.ModuleType) else text(function)
        if isinstance(value, (np.ndarray, *CONTAINERS)) or root_of(kind) not in OPAQUE:
            return ""
        if not _is_tensor(value):
            return entry(value)
        if not self._framework.tensors.concrete(value):
            return f"a tensor of {value.shape}"
        return self._array(self._framework.tensors.array(value))

    def _look_into(self, path: str, value: Any, depth: int) -> bool:
        kind = type(value)
        if isinstance(value, np.ndarray):
            if value.dtype == object:
                return self._items(path, value.ravel().tolist(), depth)
            self._facts[path] = Fact(self._array(value))
            return True
        if isinstance(value, CONTAINERS):
            changes = self._items(path, value, depth)
            return (is_user_defined(kind) and self._attributes(path, value, depth)) or changes
        self._facts[path] = Fact(kind.__name__, detail=class_code(kind))
        if isinstance(value, weakref.ref):
            return self._read_value(path + "()", value(), depth + 1)
        only_values = is_value(kind)
        self._in_values += only_values
        changes = self._attributes(path, value, depth)
        self._in_values -= only_values
        return changes and not only_values

    def _items(self, path: str, value: Any, depth: int) -> bool:
        changes, name = not isinstance(value, (tuple, frozenset)), _name_of_a_container(value)
        if len(value) > _LONGEST_CONTAINER:
            self._facts[path] = Fact(entry(value))
            return changes
        if isinstance(value, dict):
            items = [(f"[{key!r}]", item) for key, item in value.items()]
            items = [(where, item) for where, item in items if without_addresses(where) == where]
            order = "".join(where for where, _ in items)
            self._facts[path] = Fact(f"{name} of {len(value)}", detail=short_hash(order.encode()))
        elif value and all(type(item) in self._calls for item in value):
            self._facts[path] = Fact(name)
            return False
        else:
            ordered = value
            if isinstance(value, (set, frozenset)):
                ordered = sorted(value, key=lambda item: (str(getattr(item, "name", "")), entry(item)))
            self._facts[path] = Fact(f"{name} of {len(value)}")
            items = [(f"[{place}]", item) for place, item in enumerate(ordered)]
        for where, item in items:
            changes = self._read_value(path + where, item, depth + 1) or changes
        return changes

    def _read_functions(self) -> None:
        seen = set()
        while self._functions:
            number, path, function = self._functions.popleft()
            if id(function) in seen:
                continue
            seen.add(id(function))
            self.functions.append(function)
            self._enter(number)
            for where, value in held_by(function):
                if type(value) not in PLAIN or isinstance(function, functools.partial):
                    self._read_value(path + where, value, path.count("__") + 1)

    def _array(self, value: Any) -> str:
        value = np.asarray(value)
        return f"array of {value.shape}, {value.dtype}: {self._observer.digests.digest(value)}"

    def _text(self, text: str) -> Fact:
        """The fact of a text, with the layers that it names."""
        if text not in self._texts:
            parts = text.split("/")
            stems = [_COUNTED.sub("", part) for part in parts]
            named = tuple(
                (stem if stem in self._stems else part, self._named.get(part, NO_LAYER))
                for stem, part in zip(stems, parts, strict=False)
            )
            self._texts[text] = Fact(repr(text), named=named if self._stems.intersection(stems) else ())
        return self._texts[text]


def _items_in(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The objects in nested lists and dicts by path, without plain values, which `Shape.compiled` has."""
    if isinstance(value, (list, tuple, dict)):
        for key, item in items_of(value):
            yield from _items_in(f"{path}[{key!r}]", item)
    elif type(value) not in PLAIN:
        yield path, value


def held_by(function: Any) -> Iterator[tuple[str, Any]]:
    """The objects that a function, bound method or `partial` holds, each with its Python path."""
    if isinstance(function, functools.partial):
        yield from ((".func", function.func), (".args", function.args), (".keywords", function.keywords))
        return
    if isinstance(function, types.MethodType):
        yield ".__self__", function.__self__
        function = _unwrapped(function.__func__)
    if not isinstance(function, types.FunctionType):
        return
    for place, value in enumerate(contents(function.__closure__ or ())):
        yield f".__closure__[{place}].cell_contents", value
    yield from ((f".__defaults__[{place}]", value) for place, value in enumerate(function.__defaults__ or ()))
    yield from ((f".__kwdefaults__[{name!r}]", value) for name, value in (function.__kwdefaults__ or {}).items())
    yield from ((f".__globals__[{name!r}]", value) for name, value in globals_of(function))


def _unwrapped(value: Any) -> Any:
    """The function inside wrappers such as a cache or `tf.function`."""
    while root_of(type(value)) in _WRAPPERS and not isinstance(value, types.ModuleType):
        inner = getattr(value, "__wrapped__", None) or getattr(value, "python_function", None)
        if inner is None:
            break
        value = inner
    return value


def _name_of_a_container(value: Any) -> str:
    """The class name of a container, without tracking wrappers of Keras and TensorFlow."""
    kind = type(value)
    if root_of(kind) not in ("keras", "tf_keras", "tensorflow"):
        return kind.__name__
    return next(container.__name__ for container in CONTAINERS if isinstance(value, container))


def _is_tensor(value: Any) -> bool:
    return root_of(type(value)) in OPAQUE and hasattr(value, "shape") and hasattr(value, "dtype")


@functools.lru_cache(maxsize=4096)
def _counts(name: str, kind: str) -> bool:
    """Whether a name looks generated and numbered by Keras: "seed_generator_3" for `SeedGenerator`."""
    spelled = re.sub("([a-z0-9])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", kind)).lower()
    return _COUNTED.sub("", name) == spelled
