"""A construction as Python: the class imported, and called with arguments; and the script that shows what is lost."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from clonediff.harness.inside.audit import Lost
from clonediff.harness.source.dialect import Dialect
from clonediff.harness.source.other_layers import write_loading
from clonediff.harness.source.script_lines import ScriptLines
from clonediff.harness.source.words import snake
from clonediff.strategies.graph import Value


@dataclass(frozen=True, slots=True)
class Text:
    """A value that is written already, and the imports that it needs."""

    text: str
    imports: tuple[str, ...] = ()


Argument: TypeAlias = Value | Text
Arguments: TypeAlias = Mapping[str, Argument]


def construction(name: str, arguments: Arguments, dialect: Dialect) -> str:
    """The script that makes an object of a class of a package, a module or a file, as `made`."""
    script = ScriptLines(dialect)
    written = ", ".join(f"{argument}={as_python(value, script)}" for argument, value in arguments.items())
    script.lines.append(f"made = {_class(name, script)}({written})")
    return script.text()


def as_python(value: Argument, script: ScriptLines) -> str:
    """An argument as Python."""
    if isinstance(value, Text):
        script.imports.update(value.imports)
        return value.text
    return script.plain(value)


def _class(name: str, script: ScriptLines) -> str:
    path, colon, own = name.rpartition(":")
    if colon:
        variable = snake(Path(path).stem)
        script.imports.update(("import importlib.util", "import sys"))
        script.define(write_loading(variable, os.path.abspath(path)))
        return f"{variable}.{own}"
    root, _, rest = name.partition(".")
    if root in ("keras", "tf_keras"):
        return f"keras.{rest}"
    if rest:  # a class of the caller's process has no module
        script.imports.add(f"import {name.rpartition('.')[0]}")
    return name


def script_of(text: str, lost: Lost) -> str:
    """The script that shows what a construction loses."""
    lines = [text.rstrip("\n"), "revived = type(made).from_config(made.get_config())", ""]
    if not lost.path:
        return "\n".join(lines)
    try:
        ast.literal_eval(lost.made)
        read = "{}"
    except (ValueError, SyntaxError):
        read = "type({}).__name__" if lost.made.isidentifier() else "str({})"
    pair = ", ".join(read.format(name + lost.path) for name in ("made", "revived"))
    lines[-1:] = [f"expected, found = {pair}", 'assert found == expected, f"{found!r}, expected {expected!r}"', ""]
    return "\n".join(lines)
