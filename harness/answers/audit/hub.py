"""What the models of `keras_hub` are made with, so that they are small: `keras_hub.toml` has a call for each."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from clonediff.harness.answers.audit.one_class import Arguments, Text
from clonediff.harness.answers.audit.values import AuditedClass
from clonediff.harness.drawing.drawable_kinds import value_of
from clonediff.strategies.graph import Value

MODULE = "keras_hub.models"


def _arguments(call: ast.Call) -> dict[str, ast.expr]:
    return {keyword.arg or "": keyword.value for keyword in call.keywords}


_TABLE = tomllib.loads(Path(__file__).with_name("keras_hub.toml").read_text(encoding="utf-8"))["calls"]
_CALLS = [node.value for node in ast.parse(_TABLE).body if isinstance(node, ast.Expr)]
CALLS = {ast.unparse(call.func): _arguments(call) for call in _CALLS if isinstance(call, ast.Call)}
"""The arguments of a model of each class."""


def small(name: str) -> Text:
    """The call that makes a small model of a class."""
    return _text(ast.Call(ast.Name(name), [], []))


def made_with(kinds: Sequence[AuditedClass]) -> dict[str, Arguments]:
    """The arguments of each class of keras_hub that needs some, by its name."""
    found: dict[str, Arguments] = {}
    for kind in kinds:
        name = kind.name.rpartition(".")[2]
        if kind.name == f"{MODULE}.{name}" and name in CALLS and any(each.required for each in kind.constructor):
            found[kind.name] = {key: _value(key, node) for key, node in CALLS[name].items()}
    return found


def _value(name: str, node: ast.expr) -> Value | Text:
    """An argument; of a number, the audit tries a larger one."""
    try:
        return value_of(ast.literal_eval(node), name)
    except ValueError:
        return _text(node)


def _text(node: ast.expr) -> Text:
    text = _written(node)
    # keras_hub does not import all of its modules by itself.
    modules = dict.fromkeys(("keras_hub", *re.findall(r"\b(keras_hub\.src\.[\w.]+)\.\w+\(", text)))
    return Text(text, tuple(f"import {module}" for module in modules))


def _written(node: ast.expr) -> str:
    if not isinstance(node, ast.Call):
        return ast.unparse(node)
    name = ast.unparse(node.func)
    arguments = {**CALLS.get(name, {}), **_arguments(node)}
    written = ", ".join(f"{key}={_written(value)}" for key, value in arguments.items())
    return f"{name if '.' in name else f'{MODULE}.{name}'}({written})"
