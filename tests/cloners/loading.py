"""The builders of a generation: the package `models`, loaded with `import keras` meaning the Keras of that one."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

FOLDER = Path(__file__).with_name("models")
ALONE = {"keras": ("keras3", "eager"), "tf_keras": ("tf_keras", "eager")}
"""The beginnings of the names of the modules that not every generation has."""


def load(generation):
    """The package of models of a generation."""
    name = "models_of_" + generation
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(
        name, str(FOLDER / "__init__.py"), submodule_search_locations=[str(FOLDER)]
    )
    package = importlib.util.module_from_spec(spec)
    meant = importlib.import_module("tf_keras" if generation == "tf_keras" else "keras")
    before = sys.modules.get("keras")
    sys.modules["keras"] = meant
    try:
        sys.modules[name] = package
        spec.loader.exec_module(package)
        for path in sorted(FOLDER.glob("[a-z]*.py")):
            special = any(path.stem.startswith(each) for found in ALONE.values() for each in found)
            if not special or path.stem.startswith(ALONE[generation]):
                importlib.import_module(name + "." + path.stem)
    finally:
        if before is None:
            del sys.modules["keras"]
        else:
            sys.modules["keras"] = before
    return package
