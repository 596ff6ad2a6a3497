"""One interface to both generations of Keras, each imported on first use."""

from __future__ import annotations

import importlib
import os
from typing import Any, Literal

from clonediff.harness.inside.frameworks.interface import Framework

_CLASSES = {"keras": ("keras3", "Keras3"), "tf_keras": ("tf_keras", "TfKeras")}
_loaded: dict[str, Framework] = {}


def generation_of(model: Any) -> Literal["keras", "tf_keras"]:
    """The generation of Keras to which a model belongs; raises TypeError for other objects."""
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    if "tf_keras" in packages:
        return "tf_keras"
    if "keras" in packages:
        return "keras"
    raise TypeError(f"expected a model of Keras 3 or tf_keras, found {type(model).__qualname__}")


def framework(generation: str) -> Framework:
    if generation not in _loaded:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        module, name = _CLASSES[generation]
        _loaded[generation] = getattr(importlib.import_module("." + module, __name__), name)()
    return _loaded[generation]
