"""A layer's config: raw, as it is compared in one process, and as text, as it travels."""

from __future__ import annotations

import marshal
from typing import Any

from .canonical import entry
from .frameworks.interface import Framework

# Told by themselves: a config has them in a form that depends on the release and on the process, or not at all.
_CALLABLES = ("function", "mask", "_output_shape", "activity_regularizer", "_activity_regularizer")

_MOST_REMEMBERED = 4096
_remembered: dict[tuple[str, Any], dict[str, str]] = {}


class Config:
    """What a layer says of itself, and what it has learned and does not say."""

    __slots__ = ("_callables", "_config", "_kind", "_learned")

    def __init__(self, kind: str, config: dict[str, Any], learned: dict[str, str], callables: dict[str, Any]) -> None:
        self._kind = kind
        self._config = config
        self._learned = learned
        self._callables = callables

    def texts(self) -> dict[str, str]:
        """Each entry as canonical text; what was learned has a dot before its name."""
        whole = frozen((self._config, self._learned))
        # Only what is plain data through and through is equal where its frozen form is.
        plain = type(whole) is bytes
        key = (self._kind, whole)
        texts = _remembered.get(key) if plain else None
        if texts is None:
            texts = {str(name): entry(value) for name, value in self._config.items()}
            texts.update(("." + name, value) for name, value in self._learned.items())
            if plain:
                if len(_remembered) >= _MOST_REMEMBERED:
                    _remembered.clear()
                _remembered[key] = texts
        if self._callables:
            texts = dict(texts)
            for name, value in self._callables.items():
                texts[name.lstrip("_")] = entry(value)
        return texts


def frozen(value: Any) -> Any:
    """A value as it is now, as bytes where it is plain data and as text where it is not; good for `==`."""
    try:
        # The version without references: equal values give equal bytes, whoever else holds on to them.
        return marshal.dumps(value, 2)
    except ValueError:
        return repr(value)


def raw_config(layer: Any, framework: Framework) -> dict[str, Any]:
    """What the layer's own `get_config` says."""
    try:
        return framework.config(layer)
    except Exception as error:  # a layer may have no config: that is what there is to say of it
        return {"get_config": "raises %s" % type(error).__name__}


def config_of(layer: Any, config: dict[str, Any], framework: Framework) -> Config:
    """The config of a layer or an operation, with what it has learned and does not tell."""
    kind = type(layer).__name__
    if framework.is_graph(layer) or not framework.is_layer(layer):
        return Config(kind, config, {}, {})
    own = vars(layer)
    learned = _learned(layer, framework)
    if not framework.learns_apart and getattr(own.get("_lookup_layer"), "input_vocabulary", 0) is None:
        config = {name: value for name, value in config.items() if name != "vocabulary_size"}  # counted in its table
    # A function that the config calls by its name is that function: its object may be any of several wrappers.
    named = {name for name in _CALLABLES if isinstance(config.get(name), str)}
    callables = {name: own[name] for name in _CALLABLES if own.get(name) is not None and name not in named}
    if callables:
        config = {name: value for name, value in config.items() if name not in callables}
    models = {name: _apart(value) for name, value in config.items() if _describes_a_model(value)}
    return Config(kind, {**config, **models} if models else config, learned, callables)


_ITS_OWN = ("trainable", "dtype")


def _describes_a_model(value: Any) -> bool:
    return type(value) is dict and type(value.get("config")) is dict and "layers" in value["config"]


def _apart(model: dict[str, Any]) -> dict[str, Any]:
    """A model that a layer holds, but for its trainable flag and its policy, which are compared where it is itself."""
    return {**model, "config": {name: value for name, value in model["config"].items() if name not in _ITS_OWN}}


def _learned(layer: Any, framework: Framework) -> dict[str, str]:
    """What a layer has learned from data, or was told of its inputs, as text, where its config does not tell it."""
    own = vars(layer)
    if own.get("_autocast") is False and not hasattr(layer, "autocast"):
        return {"_autocast": "False"}
    if not framework.learns_apart:
        return {}
    if own.get("input_mean", 0) is None and "mean" in own:
        return {"statistics": entry([framework.array(own[name])[0].tolist() for name in ("mean", "variance")])}
    lookup = own.get("_lookup_layer", layer)
    if vars(lookup).get("input_vocabulary", 0) is None and hasattr(layer, "get_vocabulary"):
        return {"vocabulary": entry([str(word) for word in layer.get_vocabulary(include_special_tokens=False)])}
    return {}
