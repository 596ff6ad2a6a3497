"""The config of a layer, with live objects where a config for a file would only describe them.

A config is data: a function becomes its name or its byte code, a sublayer its class and its own config, and whoever
reads it has to find them by name. That can fail, and is not needed here. So the config is asked of a *stand-in*: an
object of the layer's class that holds the layer's own attributes, but for each function a placeholder with a name of
its own, and for each sublayer a stand-in that marks its config. The layer itself is never touched. While the config is
read back, the placeholder's name means the function, and what the mark is on means the clone of the sublayer.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

from ...structure import leaves, map_leaves, replace_leaves
from .adapter import Adapter
from .options import config_of, without_its_warnings

FUNCTION = "live_function_"
_LAYER = "live_layer_"
_MARK = "stand-in that gave this config"

# Bound to the layer itself, or its record of the graph: never part of a config.
_NOT_IN_A_CONFIG = frozenset(
    ("build", "quantize", "call", "_tracker", "_inbound_nodes", "_outbound_nodes", "_call_signature")
    + ("_build_shapes_dict", "_functional")
)


class LiveConfig:
    """One config of one layer, and the names under which its live parts are found while it is read."""

    adapter: Adapter

    def __init__(self, layer: Any, clone_of: Callable[[Any], Any], clone_leaf: Callable[[Any], Any]) -> None:
        """`clone_of` gives the clone of a sublayer, `clone_leaf` that of any other object in the config."""
        self.layer = layer
        self.names: dict[str, Any] = {}
        self._clone_of = clone_of
        self._clone_leaf = clone_leaf
        self._stand_ins: dict[int, Any] = {}  # stand-ins and placeholders by the ids of what they stand for
        self._originals: dict[int, Any] = {}  # and the other way round

    def told(self) -> Any:
        """The layer's own config, with marks and placeholders in it."""
        return self._told_by(self._stand_in(self.layer))

    def resolved(self, value: Any) -> Any:
        """A copy of a part of a config, to be read back. It shares no container with the layer."""
        return map_leaves(self._part, value, self._is_description)

    def read(self, config: dict[str, Any], further: dict[str, Any] | None = None) -> Any:
        """What the class of the layer makes of a config, and of further options."""
        self._name_what_is_the_users()
        options = map_leaves(self.adapter.drawing_anew, further or {})
        with self._scope(), without_its_warnings():  # a Bidirectional asks its layer for a config as it is made
            # A copy: some `from_config` take their entries out of the dictionary.
            return type(self.layer).from_config(dict(map_leaves(lambda leaf: leaf, config), **options))

    # What differs between generations.

    def _told_by(self, layer: Any) -> Any:
        return config_of(layer)

    def _is_hidden(self, value: Any) -> bool:
        """Whether a placeholder stands for a value."""
        return self.adapter.is_function(value) and not self.adapter.is_found_by_name(value)

    def _is_whole(self, layer: Any) -> bool:
        """Whether a sublayer is asked for its config itself, because no stand-in could tell it."""
        return False

    def _text(self, value: str) -> Any:
        """What becomes of a string, which may be the name of a placeholder."""
        return value

    def _function(self, described: dict[str, Any]) -> Any:
        """What becomes of the description of a function."""
        raise NotImplementedError

    def _passed(self, sublayer: Any) -> Any:
        """What the constructor of the layer gets for a sublayer."""
        return self._clone_of(sublayer)

    def _reference(self, described: dict[str, Any], name: str, clone: Any) -> dict[str, Any]:
        """The description of a sublayer as one of what this name means, its clone."""
        raise NotImplementedError

    def _name_of(self, thing: Any) -> str:
        """The name by which Keras is to find a user's class or function; "" where it need not."""
        raise NotImplementedError

    def _scope(self) -> Any:
        """The scope in which the config is read."""
        return self.adapter.keras.utils.custom_object_scope(self.names)

    # Stand-ins.

    def _stand_in(self, layer: Any) -> Any:
        if id(layer) in self._stand_ins:
            return self._stand_ins[id(layer)]
        stand_in = self._remember(layer, object.__new__(type(layer)))
        whole = self._is_whole(layer)
        held = vars(stand_in)  # written to past `__setattr__`, which may track what it is given
        for name, value in vars(layer).items():
            held[name] = value if whole or name in _NOT_IN_A_CONFIG else replace_leaves(self._masked, value)
        if layer is not self.layer:
            held["get_config"] = _marking(layer if whole else stand_in, layer, id(stand_in))
        return stand_in

    def _masked(self, value: Any) -> Any:
        if self.adapter.is_layer(value):
            return self._stand_in(value)
        return self._placeholder(value) if self._is_hidden(value) else value

    def _placeholder(self, function: Any) -> Any:
        if id(function) in self._stand_ins:
            return self._stand_ins[id(function)]

        def placeholder(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        placeholder.__name__ = placeholder.__qualname__ = self._named(FUNCTION, function, function)
        return self._remember(function, placeholder)

    def _named(self, sort: str, thing: Any, means: Any) -> str:
        name = sort + str(id(thing))
        self.names[name] = means
        return name

    def _remember(self, original: Any, stand_in: Any) -> Any:
        self._stand_ins[id(original)] = stand_in
        self._originals[id(stand_in)] = original
        return stand_in

    # The config.

    def _is_description(self, value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        return _MARK in value or _mark_in(value) is not None or value.get("class_name") == "function"

    def _part(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return self._described(value)
        if id(value) not in self._originals:
            return self._clone_leaf(value)
        original = self._originals[id(value)]
        return self._clone_of(original) if self.adapter.is_layer(original) else original

    def _described(self, value: dict[str, Any]) -> Any:
        if _MARK in value:  # without its class: the layer itself makes something of it
            return self.resolved({key: each for key, each in value.items() if key != _MARK})
        mark = _mark_in(value)
        if mark is None:
            return self._function(value)
        clone = self._passed(self._originals[mark])
        return self._reference(value, self._refer_to(clone), clone)

    def _refer_to(self, clone: Any) -> str:
        return self._named(_LAYER, clone, _Reference(clone))

    def _name_what_is_the_users(self) -> None:
        """Let the user's classes and functions be found by name, as they were where the original was built."""
        named: dict[str, list[Any]] = {}
        for layer in self.adapter.nested_layers(self.layer):
            for thing in [layer, *leaves(vars(layer))]:
                if not self.adapter.is_function(thing):
                    thing = type(thing)
                    if not hasattr(thing, "get_config"):
                        continue
                name = "" if self.adapter.comes_with_keras(thing) else self._name_of(thing)
                if name and thing not in named.setdefault(name, []):
                    named[name].append(thing)
        for name, things in named.items():
            if len(things) == 1:  # of two neither is meant by their name
                self.names.setdefault(name, things[0])


class _Reference:
    """Answers Keras's deserialization with a layer that is already there."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer

    def from_config(self, config: Any) -> Any:
        return self._layer


def _marking(asked: Any, layer: Any, mark: int) -> Callable[[], Any]:
    """A `get_config` for a sublayer, which is only referred to: one that cannot be described still has a name."""
    describe = type(layer).get_config

    @functools.wraps(describe)  # Keras looks for its own mark on a method to know that it is not overridden
    def get_config() -> Any:
        try:
            return {**describe(asked), _MARK: mark}
        except Exception:  # whatever the user's own method raises
            return {"name": layer.name, _MARK: mark}

    return get_config


def _mark_in(value: dict[str, Any]) -> Any:
    inner = value.get("config")
    return inner.get(_MARK) if isinstance(inner, dict) else None
