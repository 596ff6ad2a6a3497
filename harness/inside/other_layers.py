"""Layers that are not Keras' own: of a module, or of a file."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import Any, Iterator

from .frameworks.interface import Framework
from .signatures import signature


def other_layers(names: list[str], framework: Framework) -> dict[str, Any]:
    """What the layers take that are named so: a module, a class in one, a file, a class in a file.

    By "module.Class" or "path/to/file.py:Class".
    """
    keras = framework.keras
    found: dict[str, Any] = {}
    for name in names:
        here = [(kind, layer) for kind, layer in named(name) if _counts(layer, keras)]
        if not here:
            raise ValueError("%s: expected a layer of %s, or a module or file that has some" % (name, keras.__name__))
        for kind, layer in here:
            found[kind] = signature(layer, keras)
    return found


def _counts(layer: Any, keras: Any) -> bool:
    is_layer = isinstance(layer, type) and issubclass(layer, keras.layers.Layer)
    return is_layer and not issubclass(layer, keras.Model) and layer not in vars(keras.layers).values()


def named(name: str) -> Iterator[tuple[str, Any]]:
    """What is named so: each with a name of its own."""
    path, is_class, own = name.partition(".py:")
    if is_class or name.endswith(".py"):
        path = path + ".py" if is_class else name
        module, prefix = _loaded(path), path + ":"
        names = [each for each in dir(module) if getattr(getattr(module, each), "__module__", "") == module.__name__]
    else:
        try:
            module, prefix = importlib.import_module(name), name + "."
        except ModuleNotFoundError:
            before, _, own = name.rpartition(".")
            if not before:
                raise
            module, prefix = importlib.import_module(before), before + "."
        names = [each for each in dir(module) if not each.startswith("_")]
    for each in [own] if own else names:
        yield prefix + each, getattr(module, each)


def _loaded(path: str) -> Any:
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValueError("%s: expected a file of Python" % path)
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        if before is not None:
            sys.modules[name] = before
    return module
