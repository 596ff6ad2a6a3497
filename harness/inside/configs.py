"""The config of a layer, and what a model is compiled with, each part as canonical text."""

from __future__ import annotations

import types
from typing import Any

from clonediff.harness.inside.canonical import entry
from clonediff.harness.inside.frameworks.interface import Framework

_CALLABLES = ("function", "mask", "_output_shape", "activity_regularizer", "_activity_regularizer")
"""Compared as objects: a config has them in a form that depends on the release and the process, or not at all."""
_COMPARED_ELSEWHERE = frozenset(["name", "build_config", "compile_config"])
_GRAPH_KEYS = frozenset(["layers", "input_layers", "output_layers", "build_input_shape"])
_BUILD_SHAPES = frozenset(["query_shape", "key_shape", "value_shape"])
"""Shapes that a `MultiHeadAttention` was built on, which its calls tell as well."""
_MODEL_KEYS = ("trainable", "dtype")
"""Compared where the nested model itself is."""


def settings(layer: Any, framework: Framework) -> dict[str, str]:
    """What a layer says of itself; with a dot before its name, what it has learned and does not say."""
    try:
        config = framework.config(layer)
    except Exception as error:  # a layer may have no config: that is what there is to say of it
        return {"get_config": f"raises {type(error).__name__}"}
    without = _COMPARED_ELSEWHERE | _GRAPH_KEYS if "layers" in config else _COMPARED_ELSEWHERE
    config = {name: value for name, value in config.items() if name not in without}
    if framework.is_graph(layer) or not isinstance(layer, framework.layer_class):
        return _texts(config)
    own = vars(layer)
    if not framework.learns_apart and getattr(own.get("_lookup_layer"), "input_vocabulary", 0) is None:
        config.pop("vocabulary_size", None)  # counted in its table
    if type(layer).__name__ == "MultiHeadAttention":
        config = {name: value for name, value in config.items() if name not in _BUILD_SHAPES}
    # A function that the config calls by its name is that function: its object may be any of several wrappers.
    callables = {name: own[name] for name in _CALLABLES if own.get(name) is not None}
    callables = {name: value for name, value in callables.items() if not isinstance(config.get(name), str)}
    plain = {name: _without_its_own(value) for name, value in config.items() if name not in callables}
    texts = {name.lstrip("_"): entry(value) for name, value in callables.items()}
    return {**_texts(plain), **_learned(layer, framework), **texts}


def _texts(config: dict[str, Any]) -> dict[str, str]:
    return {str(name): entry(value) for name, value in config.items()}


def _without_its_own(value: Any) -> Any:
    """The config of a model without what is compared where the model is itself; any other value as it is."""
    if type(value) is not dict or type(value.get("config")) is not dict or "layers" not in value["config"]:
        return value
    return {**value, "config": {name: part for name, part in value["config"].items() if name not in _MODEL_KEYS}}


def _learned(layer: Any, framework: Framework) -> dict[str, str]:
    """What a layer has learned from data, or knows of its inputs, where its config does not have it."""
    own = vars(layer)
    if own.get("_autocast") is False and not hasattr(layer, "autocast"):
        return {"._autocast": "False"}
    if not framework.learns_apart:
        return {}
    lookup = own.get("_lookup_layer", layer)
    if vars(lookup).get("input_vocabulary", 0) is None and hasattr(layer, "get_vocabulary"):
        return {".vocabulary": entry([str(word) for word in layer.get_vocabulary(include_special_tokens=False)])}
    return {}


# -- what a model is compiled with

_LOSS_ARGUMENTS = ("_fn_kwargs", "fn", "_fn")
"""What a config says of a loss is not all that it was made with."""


def parts(arguments: dict[str, Any]) -> dict[str, str]:
    """The arguments of `compile`: "loss" is "Huber", and "loss.Huber.delta" is "2.0". Lists and tuples are the same."""
    texts: dict[str, str] = {}
    for name, value in arguments.items():
        _tell(name, value, texts)
    return texts


def _tell(path: str, value: Any, texts: dict[str, str]) -> None:
    if isinstance(value, (list, tuple)):
        texts[path] = str(len(value))
        for place, item in enumerate(value):
            _tell(f"{path}[{place}]", item, texts)
    elif isinstance(value, dict):
        texts[path] = str(sorted(map(str, value)))
        for key, item in value.items():
            _tell(f"{path}[{key!r}]", item, texts)
    else:
        _tell_object(path, value, texts)


def _tell_object(path: str, value: Any, texts: dict[str, str]) -> None:
    """An object that has a config, or the config of one; anything else as it is."""
    settings: Any = None
    if isinstance(value, dict) and "class_name" in value:
        kind, settings = str(value["class_name"]), value.get("config")
    elif hasattr(value, "get_config") and not isinstance(value, types.FunctionType):
        kind, settings = type(value).__name__, _settings(value)
    else:
        kind = entry(value)
    texts[path] = kind  # of a lambda without its bytes, which tell the line that it stands in as well
    if isinstance(settings, dict) and kind != "__lambda__":
        for name, part in settings.items():
            _tell_object(f"{path}.{kind}.{name}", part, texts)


def _settings(value: Any) -> dict[str, Any]:
    """What a part says of itself, with what it was made with and does not say."""
    try:
        settings = dict(value.get_config())
    except Exception:  # one of the user's own may refuse to tell
        settings = {}
    for further in map(vars(value).get, _LOSS_ARGUMENTS):
        if further is not None:
            settings = {**further, **settings} if isinstance(further, dict) else {**settings, "fn": further}
    return settings
