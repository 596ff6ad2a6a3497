"""The generations of Keras behind one interface. The module of a generation is imported when it is asked for."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from .interface import Framework

_MODULES = {"keras": "keras3", "tf_keras": "tf_keras"}
_loaded: dict[str, Framework] = {}


def generation_of(model: Any) -> str:
    """The generation that a model of this process is of, "tf_keras" or "keras"; raises where it is of no such one."""
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    if "tf_keras" in packages:
        return "tf_keras"
    if "keras" in packages:
        return "keras"
    raise TypeError("expected a model of Keras 3 or tf_keras, found %s" % type(model).__qualname__)


def framework(generation: str | None = None) -> Framework:
    """The framework that models of a generation are made in; without one, that of the package already imported."""
    if generation is None:
        generation = "tf_keras" if "tf_keras" in sys.modules and "keras" not in sys.modules else "keras"
    if generation not in _MODULES:
        raise ValueError("unknown generation %r: choose one of %s" % (generation, ", ".join(sorted(_MODULES))))
    if generation not in _loaded:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        module = importlib.import_module("." + _MODULES[generation], __name__)
        _loaded[generation] = module.load()
    return _loaded[generation]
