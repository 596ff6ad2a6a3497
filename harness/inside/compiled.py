"""What a model was compiled with, part by part: "loss" is "Huber", and "loss.Huber.delta" is "2.0"."""

from __future__ import annotations

import types
from typing import Any

from .canonical import entry

# What a config says of a loss is not all that it was made with.
_FURTHER = ("_fn_kwargs", "fn", "_fn")
_SCALARS = (bool, int, float, str)


def parts(arguments: dict[str, Any]) -> dict[str, str]:
    """The arguments of `compile` as text; a list and a tuple are the same."""
    told: dict[str, str] = {}
    for name, value in arguments.items():
        _tell(name, value, told)
    return told


def _tell(path: str, value: Any, told: dict[str, str]) -> None:
    if isinstance(value, (list, tuple)):
        told[path] = "%d" % len(value)
        for place, item in enumerate(value):
            _tell("%s[%d]" % (path, place), item, told)
    elif isinstance(value, dict):
        told[path] = "%s" % sorted(map(str, value))
        for key, item in value.items():
            _tell("%s[%r]" % (path, key), item, told)
    elif value is None or isinstance(value, (*_SCALARS, types.FunctionType)) or not hasattr(value, "get_config"):
        told[path] = entry(value)
    else:
        kind = type(value).__name__
        told[path] = kind
        for name, each in _settings(value).items():
            if hasattr(each, "get_config") or (isinstance(each, dict) and "class_name" in each):
                _tell_made("%s.%s.%s" % (path, kind, name), each, told)
            else:
                told["%s.%s.%s" % (path, kind, name)] = entry(each)


def _tell_made(path: str, value: Any, told: dict[str, str]) -> None:
    """What a part was made of: itself, or its config."""
    if not isinstance(value, dict):
        _tell(path, value, told)
        return
    told[path] = str(value["class_name"])
    if told[path] == "__lambda__":
        return  # its bytes tell the line that it stands in as well
    config = value.get("config")
    for name, each in config.items() if isinstance(config, dict) else ():
        told["%s.%s.%s" % (path, value["class_name"], name)] = entry(each)


def _settings(value: Any) -> dict[str, Any]:
    """What a part says of itself, with what it was made with and does not say."""
    try:
        settings = dict(value.get_config())
    except Exception:  # one of the user's own may refuse to tell
        settings = {}
    for name in _FURTHER:
        held = vars(value).get(name)
        if isinstance(held, dict):
            settings.update({key: each for key, each in held.items() if key not in settings})
        elif held is not None:
            settings["fn"] = held
    return settings
