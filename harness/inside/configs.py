"""A layer's config and settings: raw, as they are compared in one process, and as text, as they travel."""

from __future__ import annotations

import functools
import marshal
from typing import Any

from .canonical import entry
from .frameworks.interface import Framework

# Said elsewhere, or no property of the layer as it was made.
_NOT_SAID = frozenset(["name", "trainable", "built", "supports_masking", "dtype", "compiled", "stop_training"])
# How an input was made, which may be around a tensor; that a clone has new ones, of the same shape, is documented.
_NOT_SAID_OF_INPUTS = _NOT_SAID.union(["is_placeholder", "batch_size"])
_SCALARS = frozenset([bool, int, float, str])
# Set when weights are read from a file; a layer without them is taken for one where they are False.
_FALSE_WHERE_LACKING = frozenset(["is_gptq_calibrated", "is_awq_calibrated"])
# Told by themselves: a config has them in a form that depends on the release and on the process, or not at all.
_CALLABLES = ("function", "mask", "_output_shape", "activity_regularizer", "_activity_regularizer")

_MOST_REMEMBERED = 4096
_remembered: dict[tuple[str, Any], dict[str, str]] = {}


class Config:
    """What a layer says of itself, and what it does not say but has."""

    __slots__ = ("_callables", "_config", "_kind", "_settings")

    def __init__(self, kind: str, config: dict[str, Any], settings: dict[str, Any], callables: dict[str, Any]) -> None:
        self._kind = kind
        self._config = config
        self._settings = settings
        self._callables = callables

    def texts(self) -> dict[str, str]:
        """Each entry as canonical text; a setting that the config lacks has a dot before its name."""
        whole = frozen((self._config, self._settings))
        # Only what is plain data through and through is equal where its frozen form is.
        plain = type(whole) is bytes
        key = (self._kind, whole)
        texts = _remembered.get(key) if plain else None
        if texts is None:
            texts = {str(name): entry(value) for name, value in self._config.items()}
            for name, value in self._settings.items():
                texts["." + name] = entry(value)
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
    """The config of a layer or an operation, with the settings that it does not tell."""
    kind = type(layer).__name__
    if framework.is_graph(layer):
        return Config(kind, config, {name: it for name, it in own_settings(layer).items() if name not in config}, {})
    if not framework.is_layer(layer):
        return Config(kind, config, {}, {})
    own = vars(layer)
    settings = {name: value for name, value in plain_settings(layer).items() if name not in config}
    settings.update(_learned(layer, framework))
    if not framework.learns_apart and getattr(own.get("_lookup_layer"), "input_vocabulary", 0) is None:
        config = {name: value for name, value in config.items() if name != "vocabulary_size"}  # counted in its table
    for name in _FALSE_WHERE_LACKING:
        if settings.get(name) is False:
            del settings[name]
    # A function that the config calls by its name is that function: its object may be any of several wrappers.
    named = {name for name in _CALLABLES if isinstance(config.get(name), str)}
    callables = {name: own[name] for name in _CALLABLES if own.get(name) is not None and name not in named}
    if callables:
        config = {name: value for name, value in config.items() if name not in callables}
    models = {name: _apart(value) for name, value in config.items() if _describes_a_model(value)}
    return Config(kind, {**config, **models} if models else config, settings, callables)


_ITS_OWN = ("trainable", "dtype")


def _describes_a_model(value: Any) -> bool:
    return type(value) is dict and type(value.get("config")) is dict and "layers" in value["config"]


def _apart(model: dict[str, Any]) -> dict[str, Any]:
    """A model that a layer holds, but for its trainable flag and its policy, which are compared where it is itself."""
    return {**model, "config": {name: value for name, value in model["config"].items() if name not in _ITS_OWN}}


def _learned(layer: Any, framework: Framework) -> dict[str, str]:
    """What a layer has learned from data, as text, where its config does not tell it."""
    own = vars(layer)
    if not framework.learns_apart:
        return {}
    if own.get("input_mean", 0) is None and "mean" in own:
        return {"statistics": entry([framework.array(own[name])[0].tolist() for name in ("mean", "variance")])}
    lookup = own.get("_lookup_layer", layer)
    if vars(lookup).get("input_vocabulary", 0) is None and hasattr(layer, "get_vocabulary"):
        return {"vocabulary": entry([str(word) for word in layer.get_vocabulary(include_special_tokens=False)])}
    return {}


def plain_settings(layer: Any) -> dict[str, Any]:
    """The public attributes of a layer that are plain values."""
    own = vars(layer)
    return {name: own[name] for name in _public(tuple(own)) if type(own[name]) in _SCALARS}


def own_settings(model: Any) -> dict[str, Any]:
    """The public attributes of a model that are plain values, and that the code of its own class speaks of."""
    kinds = type(model).__mro__
    if _is_of_keras(kinds[0]):
        return {}
    own = [vars(kind).values() for kind in kinds if not _is_of_keras(kind)]
    codes = [getattr(each, "__code__", None) for values in own for each in values]
    named = {name for code in codes if code is not None for name in code.co_names}
    return {name: value for name, value in plain_settings(model).items() if name in named}


def _is_of_keras(kind: type) -> bool:
    return kind.__module__.split(".")[0] in ("keras", "tf_keras", "tensorflow", "builtins")


def settings_of(layer: Any) -> list[Any]:
    """The settings and functions of a layer as they are now, whether its config tells them or not."""
    own = vars(layer)
    values = [own[name] for name in _public(tuple(own))]
    settings: list[Any] = [value for value in values if type(value) in _SCALARS]
    settings.extend(id(own.get(name)) for name in _CALLABLES)
    return settings


@functools.lru_cache(maxsize=_MOST_REMEMBERED)
def _public(names: tuple[str, ...]) -> list[str]:
    # Layers of a class have the same attributes as a rule, and far more of them than have anything to say.
    unsaid = _NOT_SAID_OF_INPUTS if "is_placeholder" in names else _NOT_SAID
    return [name for name in names if name[0] != "_" and name not in unsaid]


def differing(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[tuple[int, str]]:
    """The settings that are not what they were, each with the number of its layer."""
    return [
        (number, name)
        for number, (one, other) in enumerate(zip(before, after))
        for name in sorted(set(one) | set(other))
        if name not in one or name not in other or one[name] is not other[name]
    ]


def take_over(name: str, source: dict[str, Any], target: dict[str, Any]) -> None:
    """Let a layer tell a setting as another description of it does."""
    target["config"] = {key: value for key, value in target["config"].items() if key != name}
    if name in source["config"]:
        target["config"][name] = source["config"][name]
