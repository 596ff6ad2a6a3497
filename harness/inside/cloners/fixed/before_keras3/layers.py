"""Rebuilds a layer from its config, with the same functions and with clones of its sublayers.

A config is made for files: it names functions and describes sublayers, and whoever reads it has to find them by name.
That can fail, and is not needed here. So the config is asked of a stand-in for the layer: its sublayers answer with a
reference, and each function has a name of its own, under which it is found while the config is read.
"""

from __future__ import annotations

from typing import Any, Callable

from ....structure import map_leaves
from ..missing_options import UserLayer, record_of_constructor, with_held_options
from ..options import REQUIRED, as_config, constructor_options, described, failure_alike, said
from .release import Release

FUNCTION = "live_function_"
_SUBLAYER = "sublayer of the layer being cloned"


class _Reference:
    """Answers Keras's deserialization with a layer that is already there."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer

    def from_config(self, config: Any) -> Any:
        return self._layer


class LiveConfig:
    """One config of one layer, and the names under which its live parts are found while it is read."""

    release: Release

    def __init__(self, layer: Any, clone_of: Callable[[Any], Any], functions: str) -> None:
        """`functions` says how functions are described: "live" and "named" by themselves, "plain" as the layer does."""
        self.names: dict[str, Any] = {}
        self._layer = layer
        self._clone_of = clone_of
        self._how = functions
        self._sublayers: list[Any] = []
        self._functions: dict[int, Any] = {}
        self.told: list[str] = []  # what the config has

    def rebuilt(self, as_it_is: bool = False, further: dict[str, Any] | None = None) -> Any:
        """A fresh layer; its sublayers too are made from the config when that is taken `as_it_is`."""
        config = self.config(as_it_is)
        self.told = sorted(config)
        config.update(map_leaves(self.release.drawing_anew, further or {}))
        with self.release.keras.utils.custom_object_scope(self.names):
            return type(self._layer).from_config(config)

    def config(self, as_it_is: bool = False) -> Any:
        told = self._told_by(self._layer if as_it_is else self._stand_in(self._layer))
        config = self._resolved(as_config(self._layer, told))
        self._name_user_objects()
        return config

    def _told_by(self, layer: Any) -> Any:
        return layer.get_config()

    def _stand_in(self, layer: Any) -> Any:
        stand_in = object.__new__(type(layer))
        for key, value in vars(layer).items():
            # Written past `__setattr__`, which may track what it is given.
            stand_in.__dict__[key] = value if key.endswith("bound_nodes") else self._masked(value)
        return stand_in

    def _masked(self, value: Any) -> Any:
        if self.release.is_layer(value):
            return self._sublayer(value, self._masked_within)
        if isinstance(value, (list, tuple)):
            items = [self._masked(item) for item in value]
            if all(item is before for item, before in zip(items, value)):
                return value
            return tuple(items) if isinstance(value, tuple) else items
        if isinstance(value, dict):
            masked = {key: self._masked(item) for key, item in value.items()}
            return value if all(masked[key] is value[key] for key in masked) else masked
        return self._renamed(value) if self._is_hidden(value) else value

    def _sublayer(self, layer: Any, masked: Callable[[Any], Any]) -> Any:
        self._sublayers.append(layer)
        index = len(self._sublayers) - 1
        stand_in = object.__new__(type(layer))
        stand_in.__dict__.update({key: masked(part) for key, part in vars(layer).items()})
        stand_in.__dict__["get_config"] = lambda: {_SUBLAYER: index}
        return stand_in

    def _masked_within(self, part: Any) -> Any:
        """A part of a sublayer: the activation of a cell, which the layer describes as its own, may be a layer."""
        if self.release.is_layer(part):
            return self._sublayer(part, lambda its: its)
        return self._renamed(part) if self._is_hidden(part) else part

    def _is_hidden(self, value: Any) -> bool:
        if self._how == "plain":
            return False
        if isinstance(value, type) and hasattr(value, "get_config"):
            return (
                True  # an initializer of TensorFlow 2.4 given as its class, which is asked for a config like an object
            )
        return self.release.is_function(value) and not self.release.is_found_by_name(value)

    def _renamed(self, function: Any) -> Any:
        """A function with a name of its own; a lambda shares its name with every other, some have none."""

        def renamed(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        renamed.__name__ = renamed.__qualname__ = FUNCTION + str(id(function))
        self.names[renamed.__name__] = function
        self._functions[id(renamed)] = function
        return renamed

    def _resolved(self, value: Any) -> Any:
        """A copy of a part of the config, sharing no container with the original layer."""
        if isinstance(value, dict):
            inner = value.get("config")
            if isinstance(inner, dict) and _SUBLAYER in inner:
                return self._reference(self._clone_of(self._sublayers[inner[_SUBLAYER]]))
            if value.get("class_name") == "function" and isinstance(inner, str) and inner in self.names:
                return self.names[inner]
            if _SUBLAYER in value:
                return self._config_of(self._sublayers[value[_SUBLAYER]])
            return {key: self._resolved(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._resolved(item) for item in value]
        if type(value) is tuple:
            return tuple(self._resolved(item) for item in value)
        if self._how == "live" and isinstance(value, str) and value.startswith(FUNCTION):
            return self.names.get(value, value)
        return self._functions[id(value)] if id(value) in self._functions else self.release.drawing_anew(value)

    def _reference(self, clone: Any) -> dict[str, Any]:
        name = "live_layer_%d" % id(clone)
        self.names[name] = _Reference(clone)
        return {"module": None, "class_name": name, "config": {"name": clone.name}, "registered_name": name}

    def _config_of(self, sublayer: Any) -> Any:
        """The config of a sublayer that is described without its class: there is no place for a reference."""
        described = type(self)(sublayer, self._clone_of, self._how)
        config = described.config()
        self.names.update(described.names)
        return config

    def _name_user_objects(self) -> None:
        """Let user classes and functions be found by name, as they were where the original was built."""
        named: dict[str, list[Any]] = {}
        for layer in self.release.nested_layers(self._layer):
            for thing in [layer] + list(vars(layer).values()):
                if not self.release.is_function(thing):
                    thing = type(thing)
                    if not hasattr(thing, "get_config"):
                        continue
                name = getattr(thing, "__name__", "")
                if name and not self.release.comes_with_keras(thing) and thing not in named.setdefault(name, []):
                    named[name].append(thing)
        for name, things in named.items():
            if len(things) == 1 and not self._must_not_hide(name):  # of two lambdas neither is meant by their name
                self.names.setdefault(name, things[0])

    def _must_not_hide(self, name: str) -> bool:
        """Whether Keras itself is to find something of its own under this name."""
        return False


def rebuild_from_config(kind: Any, layer: Any, clone_of: Callable[[Any], Any], user_layers: list[UserLayer]) -> Any:
    """A fresh layer like `layer`, by a `kind` of `LiveConfig`; one of a user's class is added to `user_layers`.

    `clone_of` gives the clone of a layer that the config describes, so that a sublayer used elsewhere stays shared.
    """
    release: Release = kind.release
    comes_with_keras = release.comes_with_keras(type(layer))
    # A class of the user's may know its functions by their real names. Keras's own take a function for its name, while
    # a name would stand for a class to some of them.
    for functions in ("live", "named", "plain") if comes_with_keras else ("plain", "live", "named"):
        live = kind(layer, clone_of, functions)
        try:
            clone = live.rebuilt()
        except Exception:
            continue
        return _with_all_options(release, live, layer, clone, user_layers)
    try:
        # This is upstream's way. Its exception is the one that a person can act on.
        return kind(layer, clone_of, "plain").rebuilt(as_it_is=True)
    except Exception as failure:
        if comes_with_keras or described(layer) in str(failure):
            raise
        options = ", ".join("`%s`" % name for name in constructor_options(type(layer), release.keras.layers.Layer))
        raise failure_alike(
            failure,
            "%s cannot be cloned from its config (%s). Let its `get_config()` return what its constructor needs: %s"
            % (described(layer), said(failure), options or "nothing"),
        ) from failure


def _with_all_options(release: Release, live: LiveConfig, layer: Any, clone: Any, user_layers: list[UserLayer]) -> Any:
    """The clone made again with the options that its config leaves out, as far as the layer or Keras tells them."""
    comparison = release.comparison()
    options = constructor_options(type(layer), release.keras.layers.Layer)
    missing = [name for name, default in options.items() if name not in live.told and default is not REQUIRED]
    if release.comes_with_keras(type(layer)):
        return with_held_options(layer, clone, missing, lambda more: live.rebuilt(further=more), comparison)[0]
    record = record_of_constructor(layer)
    recorded = {name: value for name, value in (record or {}).items() if name in missing}
    if recorded:
        try:
            clone = live.rebuilt(further=recorded)
        except Exception:  # an option that can only be given by its position
            record, recorded = None, {}
    clone, held = with_held_options(
        layer, clone, options, lambda more: live.rebuilt(further=dict(recorded, **more)), comparison
    )
    unknown = [name for name in missing if name not in held] if record is None else []
    user_layers.append(UserLayer(layer, clone, unknown, comparison))
    return clone


def rebuild_plain_lambda(release: Release, layer: Any, arguments: dict[str, Any]) -> Any:
    """A `Lambda`, or a layer of a class with the same constructor, of the same functions."""
    return type(layer)(
        layer.function,
        output_shape=layer._output_shape,
        mask=layer.mask,
        arguments=arguments,
        **release.keras.layers.Layer.get_config(layer),
    )
