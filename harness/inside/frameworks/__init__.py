"""The generations of Keras behind one interface. The module of a generation is imported when it is asked for."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from .interface import Framework

_MODULES = {"keras": "keras3", "tf_keras": "tf_keras", "tf.keras": "tf_keras", "keras2": "keras2"}
_loaded: dict[str, Framework] = {}


def generation_of(model: Any) -> str:
    """The generation that a model of this process is of, by the package of its class or of a base; "" of no other."""
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    return next((name for name in ("tf_keras", "keras") if name in packages), "")


def framework(dialect: str | None = None) -> Framework:
    """The framework that models of a dialect are made in; without one, that of the package already imported."""
    if dialect is None:
        dialect = "tf_keras" if "tf_keras" in sys.modules and "keras" not in sys.modules else "keras"
    if dialect not in _MODULES:
        raise ValueError("unknown dialect %r: choose one of %s" % (dialect, ", ".join(sorted(_MODULES))))
    if dialect not in _loaded:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        module = importlib.import_module("." + _MODULES[dialect], __name__)
        _loaded[dialect] = module.load(dialect)
    return _loaded[dialect]
