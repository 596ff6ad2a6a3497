"""Reads attributes of a model, its layers and `compile` arguments, at any depth.

The key of a fact is its Python path from the layer: ".kernel_initializer.seed", ".arguments['by'][0]". A mutable object
is read at the first path that leads to it; at other paths, the fact refers to the first. Facts also refer to layers,
variables and tensors of the model, which `harness/trials/checks/facts.py` aligns.
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
    OPAQUE_PACKAGES,
    PLAIN_TYPES,
    attribute_names,
    holds_only_settings,
    names_in_libraries,
    properties,
)
from clonediff.harness.inside.canonical import (
    cell_contents,
    class_digest,
    full_text,
    globals_of,
    short_text,
    without_addresses,
)
from clonediff.harness.inside.context import Context
from clonediff.harness.inside.digests import short_hash
from clonediff.harness.inside.layers import Layers
from clonediff.harness.inside.packages import is_user_defined, package_of
from clonediff.harness.inside.structure import items_of
from clonediff.harness.observation import NO_LAYER, Fact

_MAX_DEPTH = 16
"""Deeper objects are compared as text: properties may create objects endlessly."""
_MAX_ITEMS = 1000
"""A container with more items is compared as text."""
_CODE_TYPES = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type, types.ModuleType)
_WRAPPER_PACKAGES = OPAQUE_PACKAGES | {"functools"}
_NAME_ATTRIBUTES = frozenset(["name", "_name", "_path", "_parent_path"])
_SKIPPED_ATTRIBUTES = _NAME_ATTRIBUTES | {"trainable", "_trainable", "input_mask", "output_mask", "distribute_strategy"}
"""Not read: attributes that are compared elsewhere, or belong to the caller."""
_GRAPH_ATTRIBUTES = frozenset(["_inputs", "_outputs"])
"""Attributes that are compared with the calls of layers."""
_TRAINING_STATE = frozenset([".metrics", ".metrics_names", ".metrics_variables", ".optimizer.learning_rate"])
"""Attributes that training before cloning may have left in a model."""
_NUMBERS_AT_END = re.compile(r"(_\d+)+$")


class Facts:
    """The facts of a model (`facts_by_layer[0]`) and of layer n (`facts_by_layer[1 + n]`).

    Every object that was read stays alive, so that no `id` is reused.
    """

    def __init__(self, layers: Layers, variables: list[Any], context: Context, original: Facts | None = None) -> None:
        self.facts_by_layer: list[dict[str, Fact]] = []
        self._kept_alive: list[Any] = []
        self.other_variables: list[Any] = []
        """Variables that are neither weights nor states, as in an optimizer."""
        self._context, self._framework = context, context.framework
        self._layers = layers
        self._layer_numbers = {**layers.first_numbers, id(layers.model): -1}
        self._variable_numbers = {id(variable): number for number, variable in reversed([*enumerate(variables)])}
        self._mutable_objects: dict[int, Any] = {}
        """Mutable objects by `id`, since facts record which attributes share an object."""
        self.functions: list[Any] = []
        self._parts_of_original = set() if original is None else {*original._layer_numbers, *original._variable_numbers}
        self._first_places: dict[int, tuple[int, str]] = {}
        self._settings_depth = 0
        self._unread_functions: collections.deque[tuple[int, str, Any]] = collections.deque()
        """Functions by layer and path; their contents are read last."""
        owners = layers.model_and_layers()
        self._layers_by_name: dict[str, int] = {}
        """The layer by name; `NO_LAYER` if several layers have that name."""
        for number, name in enumerate((str(getattr(owner, "name", "")) for owner in owners), -1):
            self._layers_by_name[name] = NO_LAYER if name in self._layers_by_name else number
        self._stems = {_NUMBERS_AT_END.sub("", name) for name in self._layers_by_name}
        self._node_types = {type(node) for owner in owners[1:] for node in self._framework.layer_nodes(owner)}
        self._text_facts: dict[str, Fact] = {}
        for number, owner in enumerate(owners, -1):
            self.facts_by_layer.append({})
            self._select_layer(number)
            if self._layer_numbers[id(owner)] == number:
                self._read_attributes("", owner, 0)
        self._select_layer(-1)
        for path, value in _nested_objects("._compile_config.config", self._framework.compile_arguments(layers.model)):
            self._read_value(path, value, 1)
        self._read_functions()

    def _select_layer(self, number: int) -> None:
        self._current_layer, self._facts = number, self.facts_by_layer[1 + number]

    def _read_attributes(self, path: str, owner: Any, depth: int) -> bool:
        """Read an object's attributes; return whether a value in it is mutable."""
        is_mutable, cls = False, type(owner)
        names, all_names = attribute_names(owner, self._context.private_pattern)
        for name in sorted(names.union(properties(cls)) - (frozenset() if path else _SKIPPED_ATTRIBUTES)):
            attribute_path = f"{path}.{name}"
            if attribute_path in _TRAINING_STATE and self._current_layer < 0 and self._context.ignores_values:
                continue
            try:
                value = getattr(owner, name)
                if callable(value) and hasattr(value, "__wrapped__") and callable(getattr(cls, name, None)):
                    continue  # a method that Keras has wrapped for this object
                if name == "name" and type(value) is str and _is_generated_name(value, cls.__name__):
                    value = _NUMBERS_AT_END.sub("", value)
                if name == "seed" and type(value) is int and owner.get_config().get("seed", value) is None:
                    value = None  # the user passed no seed, so Keras drew one
            except Exception as error:  # some properties fail until a model is built
                self._facts[attribute_path] = Fact(f"raises {type(error).__name__}")
                continue
            is_derived = name in names_in_libraries(cls) and (name not in all_names or name in _GRAPH_ATTRIBUTES)
            if is_derived and self._is_list_of_parts(value):
                self._facts[attribute_path] = Fact(_container_name(value))  # a property, such as `weights`
                continue
            is_mutable = self._read_value(attribute_path, value, depth + 1) or is_mutable
        return is_mutable

    def _is_list_of_parts(self, value: Any) -> bool:
        """Whether a value is a list of layers, variables, calls or tensors."""
        return isinstance(value, (list, tuple)) and all(
            id(item) in self._variable_numbers
            or id(item) in self._layer_numbers
            or type(item) in self._node_types
            or isinstance(item, self._framework.tensor_class)
            or _is_tensor(item)
            for item in value
        )

    def _read_value(self, path: str, value: Any, depth: int) -> bool:
        """Read a value; return whether it, or a value in it, is mutable."""
        cls = type(value)
        if cls in PLAIN_TYPES:
            self._facts[path] = self._text_fact(value) if cls is str else Fact(repr(value))
            return False
        reference = self._reference(value)
        if reference is None and id(value) in self._parts_of_original:
            self._facts[path] = Fact(cls.__name__)  # such an object is reported as a leak
            return False
        self._kept_alive.append(value)
        if reference is not None:
            self._facts[path] = reference
            return False
        if isinstance(value, self._framework.variable_class):
            self.other_variables.append(value)
            shape = f"a variable of {value.shape}, {value.dtype}"
            content = shape if self._context.ignores_values else self._array_text(self._framework.read(value))
            self._facts[path] = Fact(content, detail=str(getattr(value, "trainable", "")))
            return True
        text = self._whole_text(path, value, cls)
        if text or depth > _MAX_DEPTH:
            self._facts[path] = Fact(text or short_text(value))
            return _is_tensor(value) and self._framework.tensors.is_concrete(value)
        if id(value) in self._mutable_objects and not self._settings_depth:
            self._facts[path] = Fact(first_place=self._first_places[id(value)])
            return True
        if not self._settings_depth:
            self._first_places[id(value)] = self._current_layer, path
            self._mutable_objects[id(value)] = value  # before its parts, since it may contain itself
        is_mutable = self._read_parts(path, value, depth)
        if not is_mutable and not self._settings_depth:
            del self._mutable_objects[id(value)]
        return is_mutable

    def _reference(self, value: Any) -> Fact | None:
        if id(value) in self._layer_numbers:
            return Fact("a layer", layer=self._layer_numbers[id(value)])
        if id(value) in self._variable_numbers:
            return Fact("a variable", variable=self._variable_numbers[id(value)])
        if isinstance(value, self._framework.tensor_class):
            shape = "a tensor of {}".format(getattr(value, "shape", ""))  # its dtype is compared with the call
            return Fact(shape, tensor=self._layers.tensor_place_in_any_graph(value), detail=class_digest(type(value)))
        return None

    def _whole_text(self, path: str, value: Any, cls: Any) -> str:
        """The text of a value that is compared as a whole, or ""."""
        if isinstance(value, functools.partial):
            self._unread_functions.append((self._current_layer, path, value))
            return "partial"
        function = _unwrap(value)
        if isinstance(function, _CODE_TYPES):
            if isinstance(function, (types.FunctionType, types.MethodType)):
                self._unread_functions.append((self._current_layer, path, function))
            return f"module {function.__name__}" if isinstance(function, types.ModuleType) else full_text(function)
        if isinstance(value, (np.ndarray, *CONTAINERS)) or package_of(cls) not in OPAQUE_PACKAGES:
            return ""
        if not _is_tensor(value):
            return short_text(value)
        if not self._framework.tensors.is_concrete(value):
            return f"a tensor of {value.shape}"
        return self._array_text(self._framework.tensors.array(value))

    def _read_parts(self, path: str, value: Any, depth: int) -> bool:
        cls = type(value)
        if isinstance(value, np.ndarray):
            if value.dtype == object:
                return self._read_items(path, value.ravel().tolist(), depth)
            self._facts[path] = Fact(self._array_text(value))
            return True
        if isinstance(value, CONTAINERS):
            is_mutable = self._read_items(path, value, depth)
            return (is_user_defined(cls) and self._read_attributes(path, value, depth)) or is_mutable
        self._facts[path] = Fact(cls.__name__, detail=class_digest(cls))
        if isinstance(value, weakref.ref):
            return self._read_value(path + "()", value(), depth + 1)
        is_settings = holds_only_settings(cls)
        self._settings_depth += is_settings
        is_mutable = self._read_attributes(path, value, depth)
        self._settings_depth -= is_settings
        return is_mutable and not is_settings

    def _read_items(self, path: str, value: Any, depth: int) -> bool:
        is_mutable, name = not isinstance(value, (tuple, frozenset)), _container_name(value)
        if len(value) > _MAX_ITEMS:
            self._facts[path] = Fact(short_text(value))
            return is_mutable
        if isinstance(value, dict):
            items = [(f"[{key!r}]", item) for key, item in value.items()]
            items = [(step, item) for step, item in items if without_addresses(step) == step]
            keys = "".join(step for step, _ in items)
            self._facts[path] = Fact(f"{name} of {len(value)}", detail=short_hash(keys.encode()))
        elif value and all(type(item) in self._node_types for item in value):
            self._facts[path] = Fact(name)
            return False
        else:
            ordered_items = value
            if isinstance(value, (set, frozenset)):
                ordered_items = sorted(value, key=lambda item: (str(getattr(item, "name", "")), short_text(item)))
            self._facts[path] = Fact(f"{name} of {len(value)}")
            items = [(f"[{place}]", item) for place, item in enumerate(ordered_items)]
        for step, item in items:
            is_mutable = self._read_value(path + step, item, depth + 1) or is_mutable
        return is_mutable

    def _read_functions(self) -> None:
        seen = set()
        while self._unread_functions:
            number, path, function = self._unread_functions.popleft()
            if id(function) in seen:
                continue
            seen.add(id(function))
            self.functions.append(function)
            self._select_layer(number)
            for step, value in objects_in_function(function):
                if type(value) not in PLAIN_TYPES or isinstance(function, functools.partial):
                    self._read_value(path + step, value, path.count("__") + 1)

    def _array_text(self, value: Any) -> str:
        value = np.asarray(value)
        return f"array of {value.shape}, {value.dtype}: {self._context.digests.digest(value)}"

    def _text_fact(self, text: str) -> Fact:
        """The fact for a text, with the layers that are named in it."""
        if text not in self._text_facts:
            parts = text.split("/")
            stems = [_NUMBERS_AT_END.sub("", part) for part in parts]
            names = tuple(
                (stem if stem in self._stems else part, self._layers_by_name.get(part, NO_LAYER))
                for stem, part in zip(stems, parts, strict=False)
            )
            self._text_facts[text] = Fact(repr(text), layer_names=names if self._stems.intersection(stems) else ())
        return self._text_facts[text]


def _nested_objects(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The objects in nested `compile` arguments, by path."""
    if isinstance(value, (list, tuple, dict)):
        for key, item in items_of(value):
            yield from _nested_objects(f"{path}[{key!r}]", item)
    elif type(value) not in PLAIN_TYPES:
        yield path, value


def objects_in_function(function: Any) -> Iterator[tuple[str, Any]]:
    """The objects in a function, method or `partial`, each with its Python path."""
    if isinstance(function, functools.partial):
        yield from ((".func", function.func), (".args", function.args), (".keywords", function.keywords))
        return
    if isinstance(function, types.MethodType):
        yield ".__self__", function.__self__
        function = _unwrap(function.__func__)
    if not isinstance(function, types.FunctionType):
        return
    for place, value in enumerate(cell_contents(function.__closure__ or ())):
        yield f".__closure__[{place}].cell_contents", value
    yield from ((f".__defaults__[{place}]", value) for place, value in enumerate(function.__defaults__ or ()))
    yield from ((f".__kwdefaults__[{name!r}]", value) for name, value in (function.__kwdefaults__ or {}).items())
    yield from ((f".__globals__[{name!r}]", value) for name, value in globals_of(function))


def _unwrap(value: Any) -> Any:
    """The function inside wrappers such as a cache or `tf.function`."""
    while package_of(type(value)) in _WRAPPER_PACKAGES and not isinstance(value, types.ModuleType):
        inner = getattr(value, "__wrapped__", None) or getattr(value, "python_function", None)
        if inner is None:
            break
        value = inner
    return value


def _container_name(value: Any) -> str:
    """The class name of a container; for a wrapper, of the builtin class."""
    cls = type(value)
    if package_of(cls) not in ("keras", "tf_keras", "tensorflow"):
        return cls.__name__
    return next(container.__name__ for container in CONTAINERS if isinstance(value, container))


def _is_tensor(value: Any) -> bool:
    return package_of(type(value)) in OPAQUE_PACKAGES and hasattr(value, "shape") and hasattr(value, "dtype")


@functools.lru_cache(maxsize=4096)
def _is_generated_name(name: str, class_name: str) -> bool:
    """Whether Keras generated a name: "seed_generator_3" for `SeedGenerator`."""
    snake_case = re.sub("([a-z0-9])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", class_name)).lower()
    return _NUMBERS_AT_END.sub("", name) == snake_case
