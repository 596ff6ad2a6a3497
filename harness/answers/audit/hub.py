"""What the models of `keras_hub` are made with, so that they are small.

`keras_hub.toml` says what an argument gets by its name, and what some classes get besides.
"""

from __future__ import annotations

import ast
import contextlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clonediff.harness.answers.audit.constructions import Argument, Arguments, Text
from clonediff.harness.answers.audit.record import AuditedClass
from clonediff.harness.drawing.drawable_kinds import value_of
from clonediff.harness.inside.catalogue import ModelClass, model_classes
from clonediff.harness.inside.frameworks.interface import Framework

MODULE = "keras_hub.models"


@dataclass(frozen=True, slots=True)
class Called:
    """An object as the call that makes it. A class of `keras_hub.models` may have no module, until it is made small."""

    name: str
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        """The call as Python."""
        arguments = ", ".join(f"{key}={_text(value)}" for key, value in self.arguments.items())
        return f"{self.name}({arguments})"


class UnknownArgumentError(ValueError):
    """An argument that a constructor needs, and of which nothing says what it is to be."""


def read_calls(text: str) -> dict[str, Called]:
    """The calls of a text, by the name of what is called."""
    calls = [_read(statement.value) for statement in ast.parse(text).body if isinstance(statement, ast.Expr)]
    return {call.name: call for call in calls}


def _read(node: ast.expr) -> Any:
    if isinstance(node, ast.Call):
        return Called(ast.unparse(node.func), {each.arg or "": _read(each.value) for each in node.keywords})
    return ast.literal_eval(node)


_TABLES = tomllib.loads(Path(__file__).with_name("keras_hub.toml").read_text(encoding="utf-8"))
CALLS = read_calls(_TABLES["calls"])
"""What a class gets where the names of its arguments do not say it, or not rightly."""
_BY_NAME = read_calls(f"f({_TABLES['arguments']})")["f"].arguments


def made_with(classes: Sequence[AuditedClass], framework: Framework) -> dict[str, Arguments]:
    """The arguments of each class of keras_hub of which somebody said so, by its name."""
    package = MODULE.partition(".")[0]
    models = [each for each in classes if each.sort == "model" and each.name.partition(".")[0] == package]
    known = model_classes(MODULE, framework) if models else {}
    found: dict[str, Arguments] = {}
    for audited in models:
        own = audited.name.rpartition(".")[2]
        if own in known and known[own].needs:
            with contextlib.suppress(UnknownArgumentError):
                arguments = small(own, known).arguments
                found[audited.name] = {name: _argument(value, name) for name, value in arguments.items()}
    return found


def small(name: str, classes: Mapping[str, ModelClass], other: Mapping[str, Any] | None = None) -> Called:
    """The call that makes a small model of a class, with `other` arguments than usual."""
    kind = classes.get(name)
    if kind is None:
        raise UnknownArgumentError(f"{MODULE} has no {name}, of which it is made")
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
    return Called(f"{MODULE}.{name}", arguments)


def further_imports(call: Called) -> Iterator[str]:
    """The imports of modules that keras_hub does not import by itself."""
    module = call.name.rpartition(".")[0]
    if ".src." in module:
        yield f"import {module}"
    for value in call.arguments.values():
        if isinstance(value, Called):
            yield from further_imports(value)


def _argument(value: object, name: str) -> Argument:
    if isinstance(value, Called):
        return Text(str(value), (f"import {MODULE.partition('.')[0]}", *further_imports(value)))
    return value_of(value, name)


def _text(value: Any) -> str:
    return str(value) if isinstance(value, Called) else repr(value)
