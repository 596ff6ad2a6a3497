"""How models that nobody here wrote are made: the tables of `recipes.toml`, as the lines that a person would type.

A class of `keras_hub` is made small by the names of its arguments, with what `calls` says besides; one of a later
release is tried as soon as all its arguments are known, and where they are not, that is told.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clonediff.harness.answers.checked_model.applications import NARROW, SMALLEST
from clonediff.harness.answers.checked_model.models import Model
from clonediff.harness.subjects.outcomes import ModelClass

WIDTH = 110
"""The longest line of a recipe, where it has a choice."""


@dataclass(frozen=True, slots=True)
class Called:
    """An object as the call that makes it. A class of `keras_hub.models` may have no module, until it is made small."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A model of a suite. `name` is `SUITE:MODEL`; `sizes` are those of inputs that no model can be asked for.

    `unable` says why there is no source.
    """

    name: str
    subject: str
    source: str = ""
    sizes: tuple[tuple[str, int], ...] = ()
    unable: str = ""

    @property
    def model(self) -> Model:
        """The model as `check` takes one."""
        return Model(self.name, "source", source=self.source)


def read_calls(text: str) -> dict[str, Called]:
    """The calls of a text, by the name of what is called."""
    calls = [_read(statement.value) for statement in ast.parse(text).body if isinstance(statement, ast.Expr)]
    return {call.name: call for call in calls}


def _read(node: ast.expr) -> Any:
    if isinstance(node, ast.Call):
        return Called(ast.unparse(node.func), {each.arg or "": _read(each.value) for each in node.keywords})
    return ast.literal_eval(node)


def written(value: Any, column: int = 0, indent: int = 0) -> str:
    """A value as Python, one argument a line where it is too long for one."""
    if not isinstance(value, Called):
        return repr(value)
    short = f"{value.name}({', '.join(f'{key}={written(each)}' for key, each in value.arguments.items())})"
    if len(short) + column + indent <= WIDTH:
        return short
    pad = " " * (indent + 4)
    rows = [f"{pad}{key}={written(each, len(key) + 2, indent + 4)},\n" for key, each in value.arguments.items()]
    return f"{value.name}(\n{''.join(rows)}{' ' * indent})"


def _script(imports: Iterable[str], call: Called) -> str:
    """The lines that leave the model in `model`."""
    lines = "\n".join(imports)
    return f"{lines}\n\nmodel = {written(call, len('model = '))}\n"


_TABLES = tomllib.loads(Path(__file__).with_name("recipes.toml").read_text(encoding="utf-8"))

_HUB: Mapping[str, Any] = _TABLES["keras_hub"]
HUB_MODULE = "keras_hub.models"
CALLS = read_calls(_HUB["calls"])
"""What a class of `keras_hub` gets where the names of its arguments do not say it, or not rightly."""
_BY_NAME = read_calls(f"f({_HUB['arguments']})")["f"].arguments


def keras_hub(classes: Iterable[ModelClass]) -> list[Recipe]:
    """A recipe for each class that makes a model by itself: backbones first, then the tasks that are made of them."""
    by_name = {each.name: each for each in classes}
    whole = [each for each in by_name.values() if each.name not in _HUB["bases"] and each.needs]
    return [_of_hub(each, by_name) for each in sorted(whole, key=lambda each: (bool(each.made_of), each.name))]


def _of_hub(kind: ModelClass, classes: Mapping[str, ModelClass]) -> Recipe:
    def told(table: str) -> Any:
        return _HUB[table].get(kind.name) or _HUB[table].get(kind.made_of)

    name, unable = f"keras_hub:{kind.name}", told("not_tried")
    if unable is not None:
        return Recipe(name, "keras", unable=unable)
    try:
        call = small(kind.name, classes)
    except UnknownArgumentError as error:
        return Recipe(name, "keras", unable=str(error))
    source = _script(("import keras", "import keras_hub", *dict.fromkeys(further_imports(call))), call)
    return Recipe(name, "keras", source, tuple((told("sizes") or {}).items()))


def further_imports(call: Called) -> Iterator[str]:
    """The imports of modules that keras_hub does not import by itself."""
    module = call.name.rpartition(".")[0]
    if ".src." in module:
        yield f"import {module}"
    for value in call.arguments.values():
        if isinstance(value, Called):
            yield from further_imports(value)


class UnknownArgumentError(ValueError):
    """An argument that a constructor needs, and of which nothing says what it is to be."""


def small(name: str, classes: Mapping[str, ModelClass], other: Mapping[str, Any] | None = None) -> Called:
    """The call that makes a small model of a class, with `other` arguments than usual."""
    kind = classes.get(name)
    if kind is None:
        raise UnknownArgumentError(f"{HUB_MODULE} has no {name}, of which it is made")
    own = {**(CALLS[name].arguments if name in CALLS else {}), **(other or {})}
    arguments: dict[str, Any] = {}
    for argument in kind.takes:
        if argument in own:
            arguments[argument] = own[argument]
        elif argument == "backbone" and kind.made_of:
            arguments[argument] = Called(kind.made_of, {})
        elif argument in _BY_NAME:
            arguments[argument] = _BY_NAME[argument]
        elif argument in kind.needs and argument == "preprocessor":
            arguments[argument] = None
        elif argument in kind.needs:
            raise UnknownArgumentError(f"nobody says what {name} is to get as `{argument}`")
    arguments.update((key, value) for key, value in own.items() if key not in arguments)  # those of **kwargs
    for key, value in arguments.items():
        if isinstance(value, Called) and "." not in value.name:
            arguments[key] = small(value.name, classes, value.arguments)
    return Called(f"{HUB_MODULE}.{name}", arguments)


def applications(names: Iterable[str]) -> list[Recipe]:
    """The applications of Keras, on small images, with random weights and ten classes."""
    return [Recipe(f"applications:{name}", "keras", _application(name)) for name in sorted(names)]


def _application(name: str) -> str:
    side = SMALLEST.get(name, 32)
    options: dict[str, Any] = {"weights": None, "classes": 10, "input_shape": (side, side, 3)}
    if name not in NARROW:
        return _script(["import keras"], Called(f"keras.applications.{name}", options))
    (call,) = read_calls(NARROW[name]).values()
    module = call.name.partition(".")[0]
    imports = ("import keras", f"from keras.src.applications import {module}")
    return _script(imports, Called(call.name, {**call.arguments, **options, "name": name.lower()}))


def keras_tests(suite: str, package: str) -> list[Recipe]:
    """The models with a graph that the tests of a Keras make, of those modules that its package ships."""
    imported = "keras" if package == "keras" else f"{package} as keras"
    found = []
    for path, expressions in _TABLES[suite].items():
        parent, _, module = f"{package}.src.{path}".rpartition(".")
        for expression in expressions:
            source = f"import {imported}\nfrom {parent} import {module}\n\nmodel = {module}.{expression}\n"
            found.append(Recipe(f"{suite}:{module}.{expression.removesuffix('()')}", package, source))
    return found


def tfmot() -> list[Recipe]:
    """What `tensorflow-model-optimization` makes of three models of `tf_keras`."""
    imports = "import tensorflow_model_optimization as tfmot\nimport tf_keras as keras\n"
    return [
        Recipe(f"tfmot:{base} {how}", "tf_keras", f"{imports}\n{source}{wrapped['source']}")
        for base, source in _TABLES["tfmot"]["bases"].items()
        for how, wrapped in _TABLES["tfmot"]["wrapped"].items()
        if base in wrapped.get("on", ["layers"])
    ]
