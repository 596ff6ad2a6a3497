"""Configs of layers and `compile` arguments of models: canonical texts by name."""

from __future__ import annotations

import types
from typing import Any

from clonediff.harness.inside.canonical import short_text
from clonediff.harness.inside.frameworks.interface import Framework
from clonediff.harness.inside.structure import items_of

_CALLABLES = ("function", "mask", "_output_shape", "activity_regularizer", "_activity_regularizer")
"""Attributes that are compared as objects, since their configs vary by release."""
_SKIPPED_KEYS = frozenset(["name", "build_config", "compile_config"])
_GRAPH_KEYS = frozenset(["layers", "input_layers", "output_layers", "build_input_shape"])
_BUILD_SHAPES = frozenset(["query_shape", "key_shape", "value_shape"])
"""Build shapes in a config, which are not compared, since calls are."""
_MODEL_KEYS = ("trainable", "dtype")
"""Keys in a nested model's config that are compared with the model."""


def config_texts(layer: Any, framework: Framework) -> dict[str, str]:
    """A layer's config as texts, with other state by keys like ".vocabulary"."""
    try:
        config = framework.config(layer)
    except Exception as error:  # a layer without a config is compared, too
        return {"get_config": f"raises {type(error).__name__}"}
    excluded = _SKIPPED_KEYS | _GRAPH_KEYS if "layers" in config else _SKIPPED_KEYS
    config = {name: value for name, value in config.items() if name not in excluded}
    if framework.is_graph(layer) or not isinstance(layer, framework.layer_class):
        return _texts(config)
    attributes = vars(layer)
    if not framework.keeps_adapted_state and getattr(attributes.get("_lookup_layer"), "input_vocabulary", 0) is None:
        config.pop("vocabulary_size", None)  # it is the size of the layer's table
    if type(layer).__name__ == "MultiHeadAttention":
        config = {name: value for name, value in config.items() if name not in _BUILD_SHAPES}
    # The config's name of a function is compared: the object may be a wrapper.
    callables = {name: attributes[name] for name in _CALLABLES if attributes.get(name) is not None}
    callables = {name: value for name, value in callables.items() if not isinstance(config.get(name), str)}
    other_settings = {name: _without_model_keys(value) for name, value in config.items() if name not in callables}
    texts = {name.lstrip("_"): short_text(value) for name, value in callables.items()}
    return {**_texts(other_settings), **_adapted_state(layer, framework), **texts}


def _texts(config: dict[str, Any]) -> dict[str, str]:
    return {str(name): short_text(value) for name, value in config.items()}


def _without_model_keys(value: Any) -> Any:
    """Remove `_MODEL_KEYS` from the config of a nested model."""
    if type(value) is not dict or type(value.get("config")) is not dict or "layers" not in value["config"]:
        return value
    return {**value, "config": {name: part for name, part in value["config"].items() if name not in _MODEL_KEYS}}


def _adapted_state(layer: Any, framework: Framework) -> dict[str, str]:
    """State that a layer's config omits: `autocast`, or an adapted vocabulary."""
    attributes = vars(layer)
    if attributes.get("_autocast") is False and not hasattr(layer, "autocast"):
        return {"._autocast": "False"}
    if not framework.keeps_adapted_state:
        return {}
    lookup = attributes.get("_lookup_layer", layer)
    if vars(lookup).get("input_vocabulary", 0) is None and hasattr(layer, "get_vocabulary"):
        return {".vocabulary": short_text([str(word) for word in layer.get_vocabulary(include_special_tokens=False)])}
    return {}


# -- arguments of `compile`

_LOSS_ARGUMENTS = ("_fn_kwargs", "fn", "_fn")
"""Attributes of a loss that hold arguments missing from its config."""


def compile_texts(arguments: dict[str, Any]) -> dict[str, str]:
    """Texts of `compile` arguments by path, such as "loss" and "loss.Huber.delta"; lists equal tuples."""
    texts: dict[str, str] = {}
    for name, value in arguments.items():
        _add_texts(name, value, texts)
    return texts


def _add_texts(path: str, value: Any, texts: dict[str, str]) -> None:
    if isinstance(value, (list, tuple, dict)):
        texts[path] = str(sorted(map(str, value)) if isinstance(value, dict) else len(value))
        for key, item in items_of(value):
            _add_texts(f"{path}[{key!r}]", item, texts)
    else:
        _add_object_texts(path, value, texts)


def _add_object_texts(path: str, value: Any, texts: dict[str, str]) -> None:
    """Add an object's class and config, or else its value."""
    config: Any = None
    if isinstance(value, dict) and "class_name" in value:
        text, config = str(value["class_name"]), value.get("config")
    elif hasattr(value, "get_config") and not isinstance(value, types.FunctionType):
        text, config = type(value).__name__, _config_of(value)
    else:
        text = short_text(value)
    texts[path] = text
    if isinstance(config, dict) and text != "__lambda__":  # the serialized code has a line number
        for name, part in config.items():
            _add_object_texts(f"{path}.{text}.{name}", part, texts)


def _config_of(value: Any) -> dict[str, Any]:
    """An object's config, with loss arguments that it lacks."""
    try:
        config = dict(value.get_config())
    except Exception:  # a user's `get_config` may raise
        config = {}
    for arguments in map(vars(value).get, _LOSS_ARGUMENTS):
        if arguments is not None:
            config = {**arguments, **config} if isinstance(arguments, dict) else {**config, "fn": arguments}
    return config
