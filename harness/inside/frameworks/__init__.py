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
    keras = sys.modules.get("keras")
    if "keras" in packages and hasattr(keras, "ops"):
        return "keras"
    found = type(model).__qualname__
    if any(base.__module__.startswith(("keras.", "tensorflow.python.keras.")) for base in type(model).__mro__):
        which = "keras %s" % keras.__version__ if "keras" in packages and keras else "tf.keras"
        found += " of %s: make it with Keras 3, or with tf_keras, which is Keras 2" % which
    raise TypeError("expected a model of Keras 3 or tf_keras, found %s" % found)


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
