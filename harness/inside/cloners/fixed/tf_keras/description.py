"""A layer rebuilt from its config, with everything live in that config passed on live.

A config is made for files: it names functions and describes sublayers, and what it names must be found again. A
clone is made beside its original, where nothing has to be found. So a layer is asked for its config through a
stand-in, whose sublayers answer with a reference in place of a config, and whose functions come back as they are.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from .release import is_function, is_layer, is_op_layer, is_own, is_own_name, keras, nested_layers

_SUBLAYER = "sublayer of the layer being cloned"


class _Reference:
    """Answers Keras's deserialization with a layer that is already there."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer

    def from_config(self, config: Any) -> Any:
        return self._layer


class _Description:
    """One config of one layer, and the names under which its live parts are found while it is read."""

    def __init__(self, layer: Any, clone_of: Callable[[Any], Any], by_name: bool = False) -> None:
        self.layer = layer
        self._by_name = by_name
        self.names: dict[str, Any] = {}
        self._clone_of = clone_of
        self._sublayers: list[Any] = []
        self._functions: dict[str, Any] = {}

    def config(self, refer: bool, mask_functions: bool) -> Any:
        """The config, with references to cloned sublayers when `refer`, else as the layer gives it."""
        layer = self.layer
        source = self._stand_in(layer, mask_functions) if refer else layer
        try:
            config = source.get_config()
        except NotImplementedError:
            if not refer or not is_own(type(layer)):
                raise
            config = _constructor_arguments(layer)
        if not isinstance(config, dict):
            return config
        config = self._resolved(config)
        for key, value in config.items():
            config[key] = self._live(value, _attribute(layer, key))
        if refer and isinstance(layer, keras.layers.Bidirectional) and "backward_layer" in config:
            config["backward_layer"] = self._backward_reference(config["backward_layer"])
        self._name_user_objects()
        return config

    def _stand_in(self, layer: Any, mask_functions: bool) -> Any:
        stand_in = object.__new__(type(layer))
        for key, value in vars(layer).items():
            stand_in.__dict__[key] = self._masked(value, mask_functions)
        return stand_in

    def _masked(self, value: Any, mask_functions: bool) -> Any:
        if is_layer(value):
            self._sublayers.append(value)
            index = len(self._sublayers) - 1
            stand_in = object.__new__(type(value))
            for key, part in vars(value).items():
                masked = mask_functions and is_function(part) and not is_own(part)
                stand_in.__dict__[key] = self._named_function(part) if masked else part
            stand_in.__dict__["get_config"] = lambda: {_SUBLAYER: index}
            return stand_in
        if isinstance(value, (list, tuple)) and any(is_layer(item) for item in value):
            items = [self._masked(item, mask_functions) for item in value]
            return tuple(items) if isinstance(value, tuple) else items
        if isinstance(value, dict) and any(is_layer(item) for item in value.values()):
            return {key: self._masked(item, mask_functions) for key, item in value.items()}
        if mask_functions and is_function(value) and not is_own(value):
            return self._named_function(value)
        return value

    def _named_function(self, function: Any) -> Any:
        """A function that serializes by a name of ours; the lambda itself may have neither name nor source."""

        def masked(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        masked.__name__ = masked.__qualname__ = f"live_function_{id(function)}"
        self.names[masked.__name__] = function
        self._functions[masked.__name__] = function
        return masked

    def _resolved(self, value: Any) -> Any:
        """A copy of a part of the config, sharing no container with the original layer."""
        if isinstance(value, dict):
            inner = value.get("config")
            if isinstance(inner, dict) and _SUBLAYER in inner:
                return self._reference(self._clone_of(self._sublayers[inner[_SUBLAYER]]))
            if value.get("class_name") == "function" and inner in self._functions:
                return self._functions[inner]
            if _SUBLAYER in value:
                return self._config_of(self._sublayers[value[_SUBLAYER]])
            return {key: self._resolved(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._resolved(item) for item in value]
        if type(value) is tuple:
            return tuple(self._resolved(item) for item in value)
        return value

    def _reference(self, clone: Any) -> dict[str, Any]:
        name = f"live_layer_{id(clone)}"
        self.names[name] = _Reference(clone)
        return {"module": None, "class_name": name, "config": {"name": clone.name}, "registered_name": name}

    def _function_by_name(self, function: Any) -> dict[str, Any]:
        name = f"live_function_{id(function)}"
        self.names[name] = function
        return {"module": "builtins", "class_name": "function", "config": name, "registered_name": name}

    def _backward_reference(self, described: Any) -> Any:
        """`Bidirectional` keeps its backward layer's config from before it renamed that layer; rename it back."""
        clone = self._clone_of(self.layer.backward_layer)
        clone._name = described["config"]["name"]
        return self._reference(clone)

    def _live(self, value: Any, live: Any) -> Any:
        """The value for the config: `live`, the layer's attribute of that name, where the value only describes it."""
        if value is None or live is None or is_layer(live) or isinstance(live, type):
            return value
        if is_function(live):
            if isinstance(value, str) and getattr(keras.activations, value, None) is live:
                return value  # Early recurrent layers look at the name to choose a kernel.
            # A user's layer may keep a name in its config and look the function up by itself.
            described = not isinstance(value, str) or is_own(type(self.layer))
            return (self._function_by_name(live) if self._by_name else live) if described else value
        described = isinstance(value, dict) and value.get("class_name") == type(live).__name__
        if described and hasattr(live, "get_config") and hasattr(type(live), "from_config"):
            return type(live).from_config(self._resolved(live.get_config()))
        return value

    def _name_user_objects(self) -> None:
        """Let user classes and functions be found by name, as they were where the original was built."""
        for layer in nested_layers(self.layer):
            for thing in [layer, *vars(layer).values()]:
                if not isinstance(thing, FunctionType):
                    thing = type(thing)
                    if not hasattr(thing, "from_config"):
                        continue
                if not is_own(thing) and not is_own_name(thing.__name__):
                    self.names.setdefault(thing.__name__, thing)

    def _config_of(self, sublayer: Any) -> Any:
        """The config of a sublayer that is described without its class: there is no place for a reference."""
        description = _Description(sublayer, self._clone_of)
        config = description.config(refer=True, mask_functions=True)
        self.names.update(description.names)
        return config


def _constructor_arguments(layer: Any) -> dict[str, Any]:
    """What stands in for a config that a layer does not have, as `Attention` had none before 2.1."""
    config = {"name": layer.name, "trainable": layer.trainable}
    kinds = type(layer).__mro__
    for kind in kinds[: kinds.index(keras.layers.Layer)]:
        if "__init__" in vars(kind):
            names = inspect.signature(vars(kind)["__init__"]).parameters
            config.update((name, vars(layer)[name]) for name in names if name in vars(layer))
    return config


def _attribute(layer: Any, key: str) -> Any:
    """What a config entry is made from: the attribute of that name, never a method."""
    found = vars(layer)
    if key in found:
        return found[key]
    if "_" + key in found:
        return found["_" + key]
    if isinstance(getattr(type(layer), key, None), property):
        try:
            return getattr(layer, key)
        except (AttributeError, RuntimeError, ValueError):
            return None
    return None


def rebuild_layer(layer: Any, clone_of: Callable[[Any], Any]) -> Any:
    """A fresh layer like `layer`.

    `clone_of` gives the clone of a layer that the config describes, so that a sublayer used elsewhere stays shared.
    """
    kind = type(layer)
    if is_op_layer(layer, "TFOpLambda"):
        return kind(layer.function, **_base_config(layer))
    if is_op_layer(layer, "ClassMethod"):
        return kind(layer.cls_ref, layer.method_name, **_base_config(layer))
    if isinstance(layer, keras.layers.Lambda):
        return _rebuild_lambda(layer)
    # Some classes want a function itself in their config, others a description of it.
    for mask_functions, by_name in ((is_own(kind), False), (True, False), (True, True)):
        description = _Description(layer, clone_of, by_name)
        try:
            return _from_config(kind, description.config(True, mask_functions), description.names)
        except Exception:
            continue
    # This is upstream's way. Its exception is the one that a person can act on.
    description = _Description(layer, clone_of)
    return _from_config(kind, description.config(False, False), description.names)


def _from_config(kind: Any, config: Any, names: dict[str, Any]) -> Any:
    with keras.utils.custom_object_scope(names):
        return kind.from_config(config)


def _base_config(layer: Any) -> Any:
    return keras.layers.Layer.get_config(layer)


def _rebuild_lambda(layer: Any) -> Any:
    kind = type(layer)
    if kind.__init__ is keras.layers.Lambda.__init__:
        return kind(
            layer.function,
            output_shape=layer._output_shape,
            mask=layer.mask,
            arguments=dict(layer.arguments),
            **_base_config(layer),
        )
    stand_in = object.__new__(kind)
    stand_in.__dict__.update(vars(layer))
    # Lambda's own spelling for "this is the thing itself, not a description of it".
    stand_in.__dict__["_serialize_function_to_config"] = lambda inputs, allow_raw=False: (inputs, "raw", None)
    config = dict(stand_in.get_config())
    if "arguments" in config:
        config["arguments"] = dict(config["arguments"])
    return kind.from_config(config)


def rebuild_input(layer: Any) -> Any:
    """A fresh `InputLayer` with the same name, shape, dtype and kind of tensor."""
    if layer.is_placeholder:
        return type(layer).from_config(layer.get_config())
    # Made from a tensor in the middle of another graph: the same spec, and still no placeholder.
    tensor = keras.Input(type_spec=layer._type_spec, name=layer.name)
    return type(layer)(input_tensor=tensor, name=layer.name)
