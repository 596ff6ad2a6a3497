"""What a layer's `get_config` says, with a reference in place of everything that must not be serialized.

A configuration is data: a function becomes its byte code or its name, a sublayer its class's name. Neither can be read
back when the function is a closure or when the class is known only to the script that defines it, and reading byte code
back is what safe mode forbids. So `get_config` is asked of a *stand-in*: an object of the layer's class that holds the
layer's own attributes, except that functions are replaced by placeholders with names of their own and sublayers by
stand-ins of theirs. The layer is never touched. While the configuration is read back, a placeholder's name is a custom
object that resolves to the live function, and a sublayer is an object that Keras's own sharing scope has seen before,
so that it comes back as the clone made of it.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import keras
from keras.src.backend.common import global_state
from keras.src.saving import object_registration

from ....structure import map_leaves, replace_leaves
from .release import POLICY_MAP

OBJECTS_BY_ID = "shared_objects/id_to_obj_map"
CONFIGS_BY_ID = "shared_objects/id_to_config_map"
CUSTOM_OBJECTS = "custom_objects_scope_dict"

# Bound to the layer itself, or its record of the graph: never part of a configuration.
NOT_HELD = frozenset(
    [
        "build",
        "quantize",
        "call",
        "_tracker",
        "_inbound_nodes",
        "_outbound_nodes",
        "_call_signature",
        "_build_shapes_dict",
        "_functional",
    ]
)


class KnownObjects(dict):  # type: ignore[type-arg]  # subscripting dict wants Python 3.9
    """Keras's record of the objects serialized so far, kept to those known beforehand.

    Keras marks the configuration of an object that it finds here; nothing else is to be marked.
    """

    def __setitem__(self, key: int, value: Any) -> None:
        pass


@contextmanager
def global_attributes(values: dict[str, Any]) -> Iterator[None]:
    """Other values in Keras's global state, for as long as the scope lasts."""
    before = {name: global_state.get_global_attribute(name) for name in values}
    for name, value in values.items():
        global_state.set_global_attribute(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            global_state.set_global_attribute(name, value)


def is_user_function(value: Any) -> bool:
    """Whether a value is a callable that Keras itself could not find again by name."""
    if not callable(value) or isinstance(value, (type, keras.Layer, keras.Variable)):
        return False
    if hasattr(value, "get_config"):
        return False
    module = getattr(value, "__module__", None) or ""
    # An activation goes by its name, and some of the operations have the name of one, but other defaults.
    return not module.startswith("keras.") or module.startswith(("keras.src.ops.", "keras.src.random."))


def is_function_config(value: Any) -> bool:
    return isinstance(value, dict) and value.get("class_name") == "function"


def is_graph(layer: Any) -> bool:
    return hasattr(layer, "_functional") or hasattr(layer, "_nodes_by_depth")


class StandIns:
    """The stand-ins made for one layer, and what each of them stands for."""

    def __init__(self) -> None:
        self.functions: dict[str, Any] = {}
        self.originals: dict[int, Any] = {}  # id of a stand-in -> the sublayer it stands for
        self.custom_objects: dict[str, Any] = {}
        self._of: dict[int, Any] = {}
        self._kept: list[Any] = []

    def config_of(self, layer: Any) -> Any:
        """The layer's configuration; `referred` then says which sublayers it mentions."""
        stand_in = self._layer(layer)
        self._of.pop(id(layer))
        self.originals.pop(id(stand_in))
        del vars(stand_in)["get_config"]
        self._known: dict[int, dict[str, Any]] = {key: {} for key in self.originals}
        with global_attributes({CONFIGS_BY_ID: KnownObjects(self._known), OBJECTS_BY_ID: None}):
            return stand_in.get_config()

    def referred(self) -> dict[int, Any]:
        """The sublayers that the configuration mentions, by the id under which it does."""
        return {key: self.originals[key] for key, config in self._known.items() if config}

    def revive(self, config: Any, clone_leaf: Callable[[Any], Any]) -> Any:
        """A configuration in which what was passed on as it is, and not serialized, is live again."""

        def live(value: Any) -> Any:
            if isinstance(value, str):
                return getattr(self.functions.get(value), "__name__", value)
            if id(value) in self.originals:
                return clone_leaf(self.originals[id(value)])
            name = getattr(value, "__name__", None)
            return self.functions[name] if isinstance(name, str) and name in self.functions else clone_leaf(value)

        return map_leaves(live, config, whole=is_function_config)

    def _layer(self, layer: Any) -> Any:
        if id(layer) in self._of:
            return self._of[id(layer)]
        stand_in = object.__new__(type(layer))
        self._of[id(layer)] = stand_in
        self._kept.extend([layer, stand_in])
        self.originals[id(stand_in)] = layer
        self._register(layer)
        held = vars(stand_in)
        for name, value in vars(layer).items():
            held[name] = value if name in NOT_HELD or is_graph(layer) else self._value(value)
        held["get_config"] = _answering(layer if is_graph(layer) else stand_in, layer)
        return stand_in

    def _value(self, value: Any) -> Any:
        return replace_leaves(self._leaf, value)

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, keras.Layer):
            return self._layer(value)
        if isinstance(value, POLICY_MAP):
            return copy.deepcopy(value)  # its `get_config` renames the policies in it
        if is_user_function(value):
            return self._function(value)
        if hasattr(value, "get_config") and hasattr(type(value), "from_config"):
            self._register(value)
        return value

    def _function(self, function: Any) -> Any:
        if id(function) in self._of:
            return self._of[id(function)]

        def placeholder(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        name = f"live_function_{len(self.functions)}_{id(function)}"
        placeholder.__name__ = placeholder.__qualname__ = name
        self._of[id(function)] = placeholder
        self.functions[name] = function
        self._kept.extend([function, placeholder])
        return placeholder

    def _register(self, value: Any) -> None:
        if not type(value).__module__.startswith("keras."):
            self.custom_objects[object_registration.get_registered_name(type(value))] = type(value)


def _answering(asked: Any, layer: Any) -> Callable[[], Any]:
    """A `get_config` for a sublayer, which is only referred to: one that cannot be described still has a name."""

    describe = type(layer).get_config

    @functools.wraps(describe)  # Keras looks for its own mark on a method to know that it is not overridden
    def get_config() -> Any:
        try:
            return describe(asked)
        except Exception:  # noqa: BLE001 - whatever the user's own method raises
            return {"name": layer.name}

    return get_config


@contextmanager
def live_references(
    stand_ins: StandIns, clones: dict[int, Any], read_back: dict[int, Any] | None = None
) -> Iterator[None]:
    """Scope in which a configuration that refers to stand-ins is read back as live objects.

    `read_back` has, by the id of what a constructor is going to serialize, what it must get when it reads that back.
    """
    objects = dict(clones)
    objects.update(read_back or {})
    known = KnownObjects({key: {} for key in read_back}) if read_back else None
    names = dict(global_state.get_global_attribute(CUSTOM_OBJECTS) or {})
    names.update(stand_ins.custom_objects)
    names.update(stand_ins.functions)
    with global_attributes({CONFIGS_BY_ID: known, OBJECTS_BY_ID: objects, CUSTOM_OBJECTS: names}):
        yield
