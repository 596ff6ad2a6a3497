"""Models of other projects, with random weights, are cloned faithfully by the fixed cloner.

Nothing is downloaded. The models are read from the packages, which takes a minute: only `--all` runs these tests.
"""

from __future__ import annotations

import ast
import gc
import importlib
import importlib.util
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from clonediff import assert_clones_faithfully
from tests.helpers.example_counts import runs_all_tests

TABLES = tomllib.loads(Path(__file__).with_name("recipes.toml").read_text(encoding="utf-8"))
HUB_CALLS = Path(__file__).with_name("keras_hub.txt")
CALLS: dict[str, list[ast.keyword]] = {
    ast.unparse(line.value.func): line.value.keywords  # type: ignore[attr-defined]  # each line is a call
    for line in ast.parse(HUB_CALLS.read_text(encoding="utf-8")).body
}
"""By class of keras_hub: the arguments of a small model."""


class Recipe(NamedTuple):
    """Source lines that set `model`; `sizes` has the sizes of inputs that the model leaves open."""

    name: str
    source: str = ""
    sizes: Mapping[str, int] = {}
    skipped: str = ""

    @property
    def parameter(self) -> Any:
        marks = [pytest.mark.skip(reason=self.skipped)] if self.skipped else []
        if self.name in TABLES["kept"]:
            marks.append(pytest.mark.xfail(strict=True, reason="a weight without an initializer keeps its value"))
        return pytest.param(self, id=self.name, marks=marks)


def application_recipes() -> Iterator[Recipe]:
    """Yield the models of keras.applications, on small images, with ten classes."""
    import keras

    table = TABLES["applications"]
    for name in sorted(name for name in dir(keras.applications) if name[0].isupper()):
        side = table["smallest"].get(name, 32)
        options = f"weights=None, classes=10, input_shape=({side}, {side}, 3)"
        if name in table["narrow"]:
            call = table["narrow"][name].removesuffix(")")
            module = call.partition(".")[0]
            source = f"from keras.src.applications import {module}\nmodel = {call}, {options}, name={name.lower()!r})\n"
        else:
            source = f"import keras\nmodel = keras.applications.{name}({options})\n"
        yield Recipe(f"applications:{name}", source)


def small_model(name: str, /, **changes: Any) -> Any:
    """Return a model of keras_hub with the arguments in `keras_hub.txt` and these `changes`."""
    hub = importlib.import_module("keras_hub")
    importlib.import_module("keras_hub.src.models.vae.vae_backbone")
    names = {"keras_hub": hub, **{model: partial(small_model, model) for model in CALLS}}
    line = {keyword.arg: keyword.value for keyword in CALLS[name] if keyword.arg not in changes}
    arguments = {argument: eval(ast.unparse(value), names) for argument, value in line.items()}  # noqa: S307 - our own file
    return getattr(hub.models, name)(**arguments, **changes)


def keras_hub_recipes() -> Iterator[Recipe]:
    """Yield each model of keras_hub for which `keras_hub.txt` has the arguments of a small model."""
    table = TABLES["keras_hub"]
    for name, arguments in CALLS.items():
        if name in table["bases"]:
            continue
        written = {keyword.arg: ast.unparse(keyword.value).partition("(")[0] for keyword in arguments}
        backbone = written.get("backbone", "")
        source = f"from tests.real.test_real_models import small_model\nmodel = small_model({name!r})\n"
        skipped = table["not_tried"].get(name) or table["not_tried"].get(backbone, "")
        sizes = table["sizes"].get(name) or table["sizes"].get(backbone, {})
        yield Recipe(f"keras_hub:{name}", source, sizes, skipped)


def recipes_of_tests(suite: str, package: str) -> Iterator[Recipe]:
    """Yield the models with a graph that Keras' own tests build, if its package includes these tests."""
    for path, expressions in TABLES[suite].items():
        parent, _, module = f"{package}.src.{path}".rpartition(".")
        for expression in expressions:
            source = f"import {package} as keras\nfrom {parent} import {module}\nmodel = {module}.{expression}\n"
            yield Recipe(f"{suite}:{module}.{expression}", source)


def tfmot_recipes() -> Iterator[Recipe]:
    """Yield three models of tf_keras that tensorflow-model-optimization has wrapped."""
    imports = "import tensorflow_model_optimization as tfmot\nimport tf_keras as keras\n"
    for base, source in TABLES["tfmot"]["bases"].items():
        for method, wrapped in TABLES["tfmot"]["wrapped"].items():
            if base in wrapped.get("on", ["layers"]):
                yield Recipe(f"tfmot:{base} {method}", f"{imports}{source}{wrapped['source']}")


SUITES: dict[str, tuple[str, Callable[[], Iterator[Recipe]]]] = {
    "applications": ("keras", application_recipes),
    "keras_hub": ("keras_hub", keras_hub_recipes),
    "keras_tests": ("keras", lambda: recipes_of_tests("keras_tests", "keras")),
    "tf_keras_tests": ("tf_keras", lambda: recipes_of_tests("tf_keras_tests", "tf_keras")),
    "tfmot": ("tensorflow_model_optimization", tfmot_recipes),
}
"""By suite: its package, and the function that yields its recipes."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    recipes: list[Recipe] = []
    for suite, (package, load) in SUITES.items() if runs_all_tests() else ():
        found = importlib.util.find_spec(package) is not None
        recipes += load() if found else [Recipe(suite, skipped=f"{package} is not installed: pip install '.[real]'")]
    if "recipe" in metafunc.fixturenames:
        metafunc.parametrize("recipe", [recipe.parameter for recipe in recipes])


@pytest.mark.slow(reason="more than 250 models, each of which takes seconds")
def test_a_real_model_is_cloned_faithfully(recipe: Recipe) -> None:
    namespace: dict[str, Any] = {}
    exec(recipe.source, namespace)
    model, inputs = namespace["model"], None
    if recipe.sizes:
        inputs = {}
        for tensor in model.inputs:
            shape = [size or recipe.sizes.get(tensor.name, 8) for size in tensor.shape[1:]]
            inputs[tensor.name] = np.ones([2, *shape], tensor.dtype)
    assert_clones_faithfully(model, inputs=inputs)
    namespace.clear()
    del model
    importlib.import_module("keras").utils.clear_session()
    gc.collect()
