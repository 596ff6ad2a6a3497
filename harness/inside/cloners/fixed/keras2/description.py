"""A layer rebuilt from its config, with everything live in that config passed on live.

A config is made for files: it names functions and describes sublayers, and what it names must be found again. A clone
is made beside its original, where nothing has to be found. So a layer is asked for its config through a stand-in,
whose sublayers answer with a reference, and whose functions answer to names under which only they are found.
"""

from __future__ import annotations

from typing import Any, Callable

from .release import is_found_by_name, is_function, is_layer, is_own, keras, nested_layers

_SUBLAYER = "sublayer of the layer being cloned"
_FUNCTION = "live_function_"


class _Reference:
    """Answers Keras's deserialization with a layer that is already there."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer

    def from_config(self, config: Any) -> Any:
        return self._layer


class _Description:
    """One config of one layer, and the names under which its live parts are found while it is read."""

    def __init__(self, layer: Any, clone_of: Callable[[Any], Any], functions: str) -> None:
        """`functions` says how functions are described: "live" and "named" by themselves, "plain" as the layer does."""
        self.names: dict[str, Any] = {}
        self._layer = layer
        self._clone_of = clone_of
        self._how = functions
        self._sublayers: list[Any] = []
        self._functions: dict[int, Any] = {}

    def config(self) -> Any:
        config = self._resolved(self._stand_in(self._layer).get_config())
        self._name_user_objects()
        return config

    def _stand_in(self, layer: Any) -> Any:
        stand_in = object.__new__(type(layer))
        for key, value in vars(layer).items():
            # Written past `__setattr__`, which may track what it is given.
            stand_in.__dict__[key] = value if key.endswith("bound_nodes") else self._masked(value)
        return stand_in

    def _masked(self, value: Any) -> Any:
        if is_layer(value):
            self._sublayers.append(value)
            index = len(self._sublayers) - 1
            stand_in = object.__new__(type(value))
            for key, part in vars(value).items():
                stand_in.__dict__[key] = self._masked(part) if is_function(part) else part
            stand_in.__dict__["get_config"] = lambda: {_SUBLAYER: index}
            return stand_in
        if type(value) in (list, tuple):
            return type(value)([self._masked(item) for item in value])
        if type(value) is dict:
            return {key: self._masked(item) for key, item in value.items()}
        if self._how != "plain" and is_function(value) and not is_found_by_name(value):
            return self._renamed(value)
        return value

    def _renamed(self, function: Any) -> Any:
        """A function with a name of its own; a lambda shares its name with every other, some have none."""

        def renamed(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        renamed.__name__ = renamed.__qualname__ = _FUNCTION + str(id(function))
        self.names[renamed.__name__] = function
        self._functions[id(renamed)] = function
        return renamed

    def _resolved(self, value: Any) -> Any:
        """A copy of a part of the config, sharing no container with the original layer."""
        if isinstance(value, dict):
            inner = value.get("config")
            if isinstance(inner, dict) and _SUBLAYER in inner:
                return self._reference(self._clone_of(self._sublayers[inner[_SUBLAYER]]))
            if _SUBLAYER in value:
                return self._config_of(self._sublayers[value[_SUBLAYER]])
            return {key: self._resolved(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._resolved(item) for item in value]
        if type(value) is tuple:
            return tuple(self._resolved(item) for item in value)
        if self._how == "live" and isinstance(value, str) and value.startswith(_FUNCTION):
            return self.names.get(value, value)
        return self._functions.get(id(value), value)

    def _reference(self, clone: Any) -> dict[str, Any]:
        name = "live_layer_%d" % id(clone)
        self.names[name] = _Reference(clone)
        return {"class_name": name, "config": {"name": clone.name}}

    def _config_of(self, sublayer: Any) -> Any:
        """The config of a sublayer that is described without its class: there is no place for a reference."""
        description = _Description(sublayer, self._clone_of, self._how)
        config = description.config()
        self.names.update(description.names)
        return config

    def _name_user_objects(self) -> None:
        """Let user classes and functions be found by name, as they were where the original was built."""
        named: dict[str, list[Any]] = {}
        for layer in nested_layers(self._layer):
            for thing in [layer] + list(vars(layer).values()):
                if not is_function(thing):
                    thing = type(thing)
                    if not hasattr(thing, "get_config"):
                        continue
                name = getattr(thing, "__name__", "")
                if name and not is_own(thing) and thing not in named.setdefault(name, []):
                    named[name].append(thing)
        for name, things in named.items():
            if len(things) == 1:  # of two lambdas neither is meant by their name
                self.names.setdefault(name, things[0])


def rebuild_layer(layer: Any, clone_of: Callable[[Any], Any]) -> Any:
    """A fresh layer like `layer`.

    `clone_of` gives the clone of a layer that the config describes, so that a sublayer used elsewhere stays shared.
    """
    kind = type(layer)
    if isinstance(layer, keras.layers.Lambda):
        return _rebuild_lambda(layer)
    # A class of the user's may know its functions by their real names. Keras's own take a function for its name, while
    # a name would stand for a class to some of them.
    for functions in ("live", "named", "plain") if is_own(kind) else ("plain", "live", "named"):
        description = _Description(layer, clone_of, functions)
        try:
            config = description.config()
            with keras.utils.custom_object_scope(description.names):
                return kind.from_config(config)
        except Exception:
            continue
    # This is upstream's way. Its exception is the one that a person can act on.
    return kind.from_config(layer.get_config())


def _rebuild_lambda(layer: Any) -> Any:
    kind = type(layer)
    arguments = {key: _copied(value) for key, value in layer.arguments.items()}
    if keras.utils.generic_utils.has_arg(layer.function, "mask"):
        arguments.pop("mask", None)  # each call leaves its mask there
    if kind.__init__ is keras.layers.Lambda.__init__:
        base: dict[str, Any] = keras.layers.Layer.get_config(layer)
        return kind(layer.function, output_shape=layer._output_shape, mask=layer.mask, arguments=arguments, **base)
    clone = kind.from_config(layer.get_config())
    clone.function, clone._output_shape, clone.mask = layer.function, layer._output_shape, layer.mask
    clone.arguments = arguments
    return clone


def _copied(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)([_copied(item) for item in value])
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    return value
