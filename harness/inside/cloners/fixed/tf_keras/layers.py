"""A layer of the Keras of TensorFlow 2 rebuilt from its config."""

from __future__ import annotations

import inspect
from typing import Any, Callable

from ....structure import map_leaves
from ..before_keras3.layers import EarlyConfig, rebuild_from_config, rebuild_plain_lambda
from ..live_config import FUNCTION
from ..missing_options import UserLayer
from ..options import config_of
from .release import RELEASE, is_op_layer

keras = RELEASE.keras


class TfKerasConfig(EarlyConfig):
    """A config in which an entry of Keras's own layers may be a function, or an object, itself."""

    adapter = RELEASE

    def config(self, as_it_is: bool = False) -> dict[str, Any]:
        config = super(TfKerasConfig, self).config(as_it_is)
        for key, value in config.items():
            config[key] = self._entry(value, _attribute(self.layer, key))
        if "vocabulary" not in config and RELEASE.comes_with_keras(type(self.layer)):
            # In 2.6 a TextVectorization does not tell it; one that was given it later has it among its weights.
            lookup = vars(self.layer).get("_index_lookup_layer")
            vocabulary = getattr(lookup, "input_vocabulary", None)
            if vocabulary is not None and not lookup.weights:
                config["vocabulary"] = list(vocabulary) if isinstance(vocabulary, list) else vocabulary
        if not as_it_is and isinstance(self.layer, keras.layers.Bidirectional) and "backward_layer" in config:
            # It keeps that layer's config from before it renamed the layer; the constructor renames it again.
            clone = self._passed(self.layer.backward_layer)
            clone._name = config["backward_layer"]["config"]["name"]
            config["backward_layer"] = self._reference({}, self._refer_to(clone), clone)
        return config

    def _told_by(self, layer: Any) -> Any:
        try:
            return super(TfKerasConfig, self)._told_by(layer)
        except NotImplementedError:
            if layer is self.layer or not RELEASE.comes_with_keras(type(layer)):
                raise
            return _constructor_arguments(self.layer)

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
        name = super(TfKerasConfig, self)._name_of(thing)
        places = (keras.layers, keras.activations, keras.initializers, keras.regularizers, keras.constraints)
        return "" if any(hasattr(place, name) for place in places) else name  # which is not to be hidden


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
        clone = rebuild_from_config(TfKerasConfig, layer, clone_of, user_layers)
        if RELEASE.comes_with_keras(kind) and hasattr(layer, "_recreate_layer_from_config"):
            # A Bidirectional calls layers that it has made of what it was given, which may have changed since.
            for name in ("forward_layer", "backward_layer"):
                delattr(clone, name)  # so that both are tracked in this order
                setattr(clone, name, clone_of(getattr(layer, name)))
        return clone
    if kind.__init__ is keras.layers.Lambda.__init__:
        return rebuild_plain_lambda(RELEASE, layer, map_leaves(lambda value: value, dict(layer.arguments)))
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
    if "type_spec" in inspect.signature(keras.Input).parameters:
        tensor = keras.Input(type_spec=layer._type_spec, name=layer.name)
    else:  # before 2.6
        batch, *shape = layer._batch_input_shape
        options = {"dtype": layer.dtype, "sparse": layer.sparse, "name": layer.name}
        if hasattr(layer, "ragged"):  # since 2.1
            options["ragged"] = layer.ragged
        tensor = keras.Input(shape=tuple(shape), batch_size=batch, **options)
    return type(layer)(input_tensor=tensor, name=layer.name)
