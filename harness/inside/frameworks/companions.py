"""TensorFlow 1.15 and an older Keras in one process, though each wants companions of its own.

Keras 2.2.0 and 2.2.2 were released with a `keras_applications` that TensorFlow 1.15, which imports it too, cannot use.
So TensorFlow is imported as if the Keras laid over it were not there; Keras then finds what lies beside it. Imports
nothing but the standard library: its text may stand before a script.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

COMPANIONS = ("keras_applications", "keras_preprocessing")


def import_tensorflow() -> Any:
    """TensorFlow, with the companions that are installed beside it."""
    path = list(sys.path)
    sys.path[:] = [folder for folder in path if not all(map(os.path.isdir, _needed(folder)))]
    try:
        tensorflow = importlib.import_module("tensorflow")
    finally:
        sys.path[:] = path
    for name in list(sys.modules):
        if name.split(".")[0] in COMPANIONS:
            del sys.modules[name]
    importlib.invalidate_caches()
    return tensorflow


def _needed(folder: str) -> list[str]:
    return [os.path.join(folder, name) for name in ("keras", *COMPANIONS)]
