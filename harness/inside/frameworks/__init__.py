"""One interface to both generations of Keras; each is imported on first use."""

from __future__ import annotations

import functools
import importlib
import os
from typing import Any, Literal

from clonediff.harness.inside.frameworks.interface import Framework

_CLASSES = {"keras": ".keras3.Keras3", "tf_keras": ".tf_keras.TfKeras"}


def generation_of(model: Any) -> Literal["keras", "tf_keras"]:
    """A model's generation of Keras; other objects raise TypeError."""
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    if "tf_keras" in packages:
        return "tf_keras"
    if "keras" in packages:
        return "keras"
    raise TypeError(f"expected a model of Keras 3 or tf_keras, found {type(model).__qualname__}")


@functools.cache
def framework(generation: str) -> Framework:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    module, _, name = _CLASSES[generation].rpartition(".")
    interface: Framework = getattr(importlib.import_module(module, __name__), name)()
    return interface
