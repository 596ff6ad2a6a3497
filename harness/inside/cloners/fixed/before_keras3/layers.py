"""Rebuilds a layer from its config, with the same functions and with clones of its sublayers."""

from __future__ import annotations

from typing import Any, Callable

from ....structure import map_leaves
from ..live_config import FUNCTION, LiveConfig
from ..missing_options import UserLayer, record_of_constructor, with_all_options
from ..options import REQUIRED, as_config, constructor_options, described, failure_alike, said
from .release import Release


class EarlyConfig(LiveConfig):
    """A live config of the Keras before Keras 3, which has several ways to describe a function."""

    adapter: Release

    def __init__(self, layer: Any, clone_of: Callable[[Any], Any], functions: str) -> None:
        """`functions` says how functions are described: "live" and "named" by themselves, "plain" as the layer does."""
        super(EarlyConfig, self).__init__(layer, clone_of, self.adapter.drawing_anew)
        self._how = functions

    def config(self, as_it_is: bool = False) -> dict[str, Any]:
        """The config to be read; if it is taken `as_it_is`, the sublayers too are made from it."""
        told = self._told_by(self.layer) if as_it_is else self.told()
        return dict(self.resolved(as_config(self.layer, told)))

    def _is_hidden(self, value: Any) -> bool:
        if self._how == "plain":
            return False
        if isinstance(value, type) and hasattr(value, "get_config"):
            return True  # a class of TensorFlow 2.4 given as an initializer, which is asked for a config like an object
        return super(EarlyConfig, self)._is_hidden(value)

    def _text(self, value: str) -> Any:
        return self.names.get(value, value) if self._how == "live" and value.startswith(FUNCTION) else value

    def _function(self, described: dict[str, Any]) -> Any:
        name = described.get("config")
        return self.names.get(name, described) if isinstance(name, str) else described

    def _reference(self, described: dict[str, Any], name: str, clone: Any) -> dict[str, Any]:
        return {"module": None, "class_name": name, "config": {"name": clone.name}, "registered_name": name}

    def _name_of(self, thing: Any) -> str:
        return getattr(thing, "__name__", "")


def rebuild_from_config(kind: Any, layer: Any, clone_of: Callable[[Any], Any], user_layers: list[UserLayer]) -> Any:
    """A fresh layer like `layer`, by a `kind` of `EarlyConfig`; one of a user's class is added to `user_layers`.

    `clone_of` gives the clone of a layer that the config describes, so that a sublayer used elsewhere stays shared.
    """
    adapter: Release = kind.adapter
    comes_with_keras = adapter.comes_with_keras(type(layer))
    # A class of the user's may know its functions by their real names. Keras's own take a function for its name, while
    # a name would stand for a class to some of them.
    for functions in ("live", "named", "plain") if comes_with_keras else ("plain", "live", "named"):
        live = kind(layer, clone_of, functions)
        try:
            config = live.config()
            clone = live.read(config)
        except Exception:
            continue
        return _with_all_options(live, config, clone, user_layers)
    try:
        # This is upstream's way. Its exception is the one that a person can act on.
        live = kind(layer, clone_of, "plain")
        return live.read(live.config(as_it_is=True))
    except Exception as failure:
        if comes_with_keras or described(layer) in str(failure):
            raise
        options = ", ".join("`%s`" % name for name in constructor_options(type(layer), adapter.keras.layers.Layer))
        raise failure_alike(
            failure,
            "%s cannot be cloned from its config (%s). Let its `get_config()` return what its constructor needs: %s"
            % (described(layer), said(failure), options or "nothing"),
        ) from failure


def _with_all_options(live: EarlyConfig, config: dict[str, Any], clone: Any, user_layers: list[UserLayer]) -> Any:
    """The clone made again with the options that its config leaves out, as far as the layer or Keras tells them."""
    layer, adapter = live.layer, live.adapter
    options = constructor_options(type(layer), adapter.keras.layers.Layer)
    missing = [name for name, default in options.items() if name not in config and default is not REQUIRED]
    record = None if adapter.comes_with_keras(type(layer)) else record_of_constructor(layer)
    recorded = {name: value for name, value in (record or {}).items() if name in missing}
    if recorded:
        try:
            clone = live.read(config, recorded)
        except Exception:  # an option that can only be given by its position
            record, recorded = None, {}

    def make(further: dict[str, Any]) -> Any:
        return live.read(config, dict(recorded, **further))

    return with_all_options(layer, clone, options, missing, record, make, adapter, user_layers)


def rebuild_plain_lambda(release: Release, layer: Any, arguments: dict[str, Any]) -> Any:
    """A `Lambda`, or a layer of a class with the same constructor, of the same functions."""
    return type(layer)(
        layer.function,
        output_shape=map_leaves(lambda leaf: leaf, layer._output_shape),
        mask=map_leaves(lambda leaf: leaf, layer.mask),
        arguments=arguments,
        **release.keras.layers.Layer.get_config(layer),
    )
