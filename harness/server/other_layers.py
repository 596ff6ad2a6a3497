"""Layers that are not Keras' own: of a module, or of a file."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from typing import Any

from ..inside.cloners.users import imported
from ..inside.frameworks.interface import Framework
from .signatures import signature


def other_layers(names: list[str], framework: Framework) -> dict[str, Any]:
    """What the layers take that have these names: a module, a class in one, a file, a class in a file.

    By "module.Class" or "path/to/file.py:Class".
    """
    keras = framework.keras
    layers: dict[str, Any] = {}
    for name in names:
        signatures = {kind: signature(layer, keras) for kind, layer in named(name) if _counts(layer, keras)}
        if not signatures:
            raise ValueError(f"{name}: expected a layer of {keras.__name__}, or a module or file that has some")
        layers.update(signatures)
    return layers


def _counts(layer: Any, keras: Any) -> bool:
    is_layer = isinstance(layer, type) and issubclass(layer, keras.layers.Layer)
    return is_layer and not issubclass(layer, keras.Model) and layer not in vars(keras.layers).values()


def named(name: str) -> Iterator[tuple[str, Any]]:
    """The objects that a name stands for, each with a name of its own."""
    path, colon, part = name.partition(".py:")
    if colon or name.endswith(".py"):
        path = path + ".py" if colon else name
        folder, file = os.path.split(path)
        module, prefix = imported(os.path.splitext(file)[0], os.path.abspath(folder)), path + ":"
        members = {key: value for key, value in vars(module).items() if _is_of(value, module)}
    else:
        try:
            module, prefix = importlib.import_module(name), name + "."
        except ModuleNotFoundError:
            package, _, part = name.rpartition(".")
            if not package:
                raise
            module, prefix = importlib.import_module(package), package + "."
        members = {key: getattr(module, key) for key in dir(module) if not key.startswith("_")}
    for key in [part] if part else sorted(members):
        yield prefix + key, getattr(module, key)


def _is_of(value: Any, module: Any) -> bool:
    return bool(getattr(value, "__module__", "") == module.__name__)
