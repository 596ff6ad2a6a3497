"""Rebuilds a layer from its config, with the same functions and with clones of its sublayers."""

from __future__ import annotations

import inspect
from typing import Any, Callable

from ....structure import map_leaves
from ..live_config import FUNCTION, LiveConfig
from ..missing_options import UserLayer, record_of_constructor, with_all_options
from ..options import REQUIRED, as_config, config_of, constructor_options, described, failure_alike, said
from .release import RELEASE, is_op_layer, keras


class TfKerasConfig(LiveConfig):
    """A live config of `tf_keras`, which has several ways to describe a function.

    An entry of Keras' own layers may be a function, or an object, itself.
    """

    adapter = RELEASE

    def __init__(self, layer: Any, clone_of: Callable[[Any], Any], functions: str) -> None:
        """`functions` says how functions are described: "live" and "named" by themselves, "plain" as the layer does."""
        super().__init__(layer, clone_of, self.adapter.drawing_anew)
        self._how = functions

    def config(self, as_it_is: bool = False) -> dict[str, Any]:
        """The config to be read; if it is taken `as_it_is`, the sublayers too are made from it."""
        told = self._told_by(self.layer) if as_it_is else self.told()
        config = dict(self.resolved(as_config(self.layer, told)))
        for key, value in config.items():
            config[key] = self._entry(value, _attribute(self.layer, key))
        if not as_it_is and isinstance(self.layer, keras.layers.Bidirectional) and "backward_layer" in config:
            # It keeps that layer's config from before it renamed the layer; the constructor renames it again.
            clone = self._passed(self.layer.backward_layer)
            clone._name = config["backward_layer"]["config"]["name"]
            config["backward_layer"] = self._reference({}, self._refer_to(clone), clone)
        return config

    def _told_by(self, layer: Any) -> Any:
        try:
            return super()._told_by(layer)
        except NotImplementedError:
            if layer is self.layer or not RELEASE.comes_with_keras(type(layer)):
                raise
            return _constructor_arguments(self.layer)

    def _is_hidden(self, value: Any) -> bool:
        return self._how != "plain" and super()._is_hidden(value)

    def _text(self, value: str) -> Any:
        return self.names.get(value, value) if self._how == "live" and value.startswith(FUNCTION) else value

    def _function(self, described: dict[str, Any]) -> Any:
        name = described.get("config")
        return self.names.get(name, described) if isinstance(name, str) else described

    def _reference(self, described: dict[str, Any], name: str, clone: Any) -> dict[str, Any]:
        return {"module": None, "class_name": name, "config": {"name": clone.name}, "registered_name": name}

    def _entry(self, value: Any, live: Any) -> Any:
        """The value for the config: `live`, the layer's attribute of that name, where the value only describes it."""
        if value is None or live is None or RELEASE.is_layer(live) or isinstance(live, type):
            return value
        if RELEASE.is_function(live):
            if isinstance(value, str) and getattr(keras.activations, value, None) is live:
                return value  # Early recurrent layers look at the name to choose a kernel.
            # A user's layer may keep a name in its config and look the function up by itself.
            described = not isinstance(value, str) or RELEASE.comes_with_keras(type(self.layer))
            return (self._by_name(live) if self._how == "named" else live) if described else value
        if self._how == "plain" and not RELEASE.comes_with_keras(type(self.layer)):
            return value  # Its own `from_config` may be there to read it.
        described = isinstance(value, dict) and value.get("class_name") == type(live).__name__
        if described and hasattr(live, "get_config") and hasattr(type(live), "from_config"):
            return type(live).from_config(self.resolved(config_of(live)))
        return value

    def _by_name(self, function: Any) -> dict[str, Any]:
        name = self._named(FUNCTION, function, function)
        return {"module": "builtins", "class_name": "function", "config": name, "registered_name": name}

    def _name_of(self, thing: Any) -> str:
        name = getattr(thing, "__name__", "")
        places = (keras.layers, keras.activations, keras.initializers, keras.regularizers, keras.constraints)
        return "" if any(hasattr(place, name) for place in places) else name  # which is not to be hidden


def _constructor_arguments(layer: Any) -> dict[str, Any]:
    """What stands in for the config of a layer that was given what no config can tell."""
    config = {"name": layer.name, "trainable": layer.trainable}
    kinds = type(layer).__mro__
    for kind in kinds[: kinds.index(keras.layers.Layer)]:
        if "__init__" in vars(kind):
            names = inspect.signature(vars(kind)["__init__"]).parameters
            config.update((name, vars(layer)[name]) for name in names if name in vars(layer))
    return config


def _attribute(layer: Any, key: str) -> Any:
    """What a config entry is made from: the attribute of that name, never a method.

    Where a layer of Keras keeps it as a private one, a public one was set on it, and is nothing to the layer.
    """
    found = vars(layer)
    names = [name for name in (key, "_" + key) if name in found]
    if names:
        return found[names[-1 if RELEASE.comes_with_keras(type(layer)) else 0]]
    if isinstance(getattr(type(layer), key, None), property):
        try:
            return getattr(layer, key)
        except (AttributeError, RuntimeError, ValueError):
            return None
    return None


def rebuild_layer(layer: Any, clone_of: Callable[[Any], Any], user_layers: list[UserLayer]) -> Any:
    """A fresh layer like `layer`; `clone_of` gives the clone of a layer that its config describes.

    One of a user's class is added to `user_layers`.
    """
    kind = type(layer)
    if is_op_layer(layer, "TFOpLambda"):
        return kind(layer.function, **keras.layers.Layer.get_config(layer))
    if is_op_layer(layer, "ClassMethod"):
        return kind(layer.cls_ref, layer.method_name, **keras.layers.Layer.get_config(layer))
    if not isinstance(layer, keras.layers.Lambda):
        clone = _rebuild_from_config(layer, clone_of, user_layers)
        if RELEASE.comes_with_keras(kind) and hasattr(layer, "_recreate_layer_from_config"):
            # A Bidirectional calls layers that it has made of what it was given, which may have changed since.
            for name in ("forward_layer", "backward_layer"):
                delattr(clone, name)  # so that both are tracked in this order
                setattr(clone, name, clone_of(getattr(layer, name)))
        return clone
    if kind.__init__ is keras.layers.Lambda.__init__:
        return _rebuild_plain_lambda(layer)
    stand_in = object.__new__(kind)
    stand_in.__dict__.update(vars(layer))
    # Lambda's own spelling for "this is the thing itself, not a description of it".
    stand_in.__dict__["_serialize_function_to_config"] = lambda inputs, allow_raw=False: (inputs, "raw", None)
    config = dict(stand_in.get_config())
    if "arguments" in config:
        config["arguments"] = dict(config["arguments"])
    return kind.from_config(config)


def _rebuild_from_config(layer: Any, clone_of: Callable[[Any], Any], user_layers: list[UserLayer]) -> Any:
    """A fresh layer like `layer`; one of a user's class is added to `user_layers`.

    `clone_of` gives the clone of a layer that the config describes, so that a sublayer used elsewhere stays shared.
    """
    comes_with_keras = RELEASE.comes_with_keras(type(layer))
    # A class of the user's may know its functions by their real names. Keras's own take a function for its name, while
    # a name would stand for a class to some of them.
    for functions in ("live", "named", "plain") if comes_with_keras else ("plain", "live", "named"):
        live = TfKerasConfig(layer, clone_of, functions)
        try:
            config = live.config()
            clone = live.read(config)
        except Exception:
            continue
        return _with_all_options(live, config, clone, user_layers)
    try:
        # This is upstream's way. Its exception is the one that a person can act on.
        live = TfKerasConfig(layer, clone_of, "plain")
        return live.read(live.config(as_it_is=True))
    except Exception as failure:
        if comes_with_keras or described(layer) in str(failure):
            raise
        options = ", ".join("`%s`" % name for name in constructor_options(type(layer), keras.layers.Layer))
        raise failure_alike(
            failure,
            "%s cannot be cloned from its config (%s). Let its `get_config()` return what its constructor needs: %s"
            % (described(layer), said(failure), options or "nothing"),
        ) from failure


def _with_all_options(live: TfKerasConfig, config: dict[str, Any], clone: Any, user_layers: list[UserLayer]) -> Any:
    """The clone made again with the options that its config leaves out, as far as the layer or Keras tells them."""
    layer = live.layer
    options = constructor_options(type(layer), keras.layers.Layer)
    missing = [name for name, default in options.items() if name not in config and default is not REQUIRED]
    record = None if RELEASE.comes_with_keras(type(layer)) else record_of_constructor(layer)
    recorded = {name: value for name, value in (record or {}).items() if name in missing}
    if recorded:
        try:
            clone = live.read(config, recorded)
        except Exception:  # an option that can only be given by its position
            record, recorded = None, {}

    def make(further: dict[str, Any]) -> Any:
        return live.read(config, dict(recorded, **further))

    return with_all_options(layer, clone, options, missing, record, make, RELEASE, user_layers)


def _rebuild_plain_lambda(layer: Any) -> Any:
    """A `Lambda`, or a layer of a class with the same constructor, of the same functions."""
    return type(layer)(
        layer.function,
        output_shape=map_leaves(lambda leaf: leaf, layer._output_shape),
        mask=map_leaves(lambda leaf: leaf, layer.mask),
        arguments=map_leaves(lambda leaf: leaf, dict(layer.arguments)),
        **keras.layers.Layer.get_config(layer),
    )


def rebuild_input(layer: Any) -> Any:
    """A fresh `InputLayer` with the same name, shape, dtype and kind of tensor."""
    if layer.is_placeholder:
        return type(layer).from_config(layer.get_config())
    # Made from a tensor in the middle of another graph: the same spec, and still no placeholder.
    tensor = keras.Input(type_spec=layer._type_spec, name=layer.name)
    return type(layer)(input_tensor=tensor, name=layer.name)
