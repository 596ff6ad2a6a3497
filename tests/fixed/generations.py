"""The two generations of Keras, and the builders of models for them.

The package `models` is loaded once for each generation, with `import keras` meaning the Keras of that generation.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

import pytest

KERAS = {name: importlib.import_module(name) for name in ("keras", "tf_keras")}
FOLDER = Path(__file__).with_name("models")

for_generations = pytest.mark.parametrize("generation", KERAS)


def load(generation):
    """Load the package of models for a generation, without the `of_...` module of the other one."""
    name = "models_of_" + generation
    if name in sys.modules:
        return sys.modules[name]
    init = FOLDER / "__init__.py"
    spec = importlib.util.spec_from_file_location(name, init, submodule_search_locations=[str(FOLDER)])
    package = sys.modules[name] = importlib.util.module_from_spec(spec)
    sys.modules["keras"] = KERAS[generation]
    try:
        spec.loader.exec_module(package)
        for path in sorted(FOLDER.glob("[a-z]*.py")):
            if not path.stem.startswith("of_") or path.stem == "of_" + generation:
                importlib.import_module(f"{name}.{path.stem}")
    finally:
        sys.modules["keras"] = KERAS["keras"]
    return package


def for_builders(table):
    """Parametrize a test with each builder of a table, in both generations."""
    parameters = []
    for generation in KERAS:
        for name, builder in getattr(load(generation), table).items():
            parameters.append(pytest.param(generation, builder, id=f"{generation}-{name.replace('_', ' ')}"))
    return pytest.mark.parametrize(("generation", "builder"), parameters)


def clear_session(generation):
    """Reset the names of layers. `clear_session` of Keras 3 would collect garbage for half a second."""
    KERAS[generation].backend.clear_session(**({"free_memory": False} if generation == "keras" else {}))
