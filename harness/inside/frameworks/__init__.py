"""The generations of Keras behind one interface. The module of a generation is imported when it is asked for."""

from __future__ import annotations

import importlib
import os
import sys

from .interface import Framework

_GENERATIONS = {"keras": "keras3", "tf_keras": "tf_keras2"}
_loaded: dict[str, Framework] = {}


def framework(generation: str | None = None) -> Framework:
    """The framework of a generation, "keras" or "tf_keras"; without one, that of the package already imported."""
    if generation is None:
        generation = "tf_keras" if "tf_keras" in sys.modules and "keras" not in sys.modules else "keras"
    if generation not in _GENERATIONS:
        raise ValueError("unknown generation %r: choose one of %s" % (generation, ", ".join(sorted(_GENERATIONS))))
    if generation not in _loaded:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        module = importlib.import_module("." + _GENERATIONS[generation], __name__)
        _loaded[generation] = module.load()
    return _loaded[generation]
