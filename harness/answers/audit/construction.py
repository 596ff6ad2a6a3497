"""A construction as Python: the class imported, and called with arguments, each by its name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

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


@dataclass(frozen=True, slots=True)
class Construction:
    """A class of a package, a module or a file, called with arguments."""

    name: str
    arguments: Mapping[str, Argument]

    def script(self, dialect: Dialect) -> ScriptLines:
        """The script that makes the object, as `made`."""
        script = ScriptLines(dialect)
        words = ", ".join(f"{name}={_word(value, script)}" for name, value in self.arguments.items())
        script.lines.append(f"made = {self._class(script)}({words})")
        return script

    def text(self, dialect: Dialect) -> str:
        """The text of the script."""
        return self.script(dialect).text()

    def _class(self, script: ScriptLines) -> str:
        path, colon, own = self.name.rpartition(":")
        if colon:
            variable = snake(Path(path).stem)
            script.imports.update(("import importlib.util", "import sys"))
            script.define(write_loading(variable, os.path.abspath(path)))
            return f"{variable}.{own}"
        root, _, rest = self.name.partition(".")
        if root in ("keras", "tf_keras") and not rest.startswith("src."):
            return f"keras.{rest}"
        module, _, own = self.name.rpartition(".")
        if module:  # the caller has one without
            script.imports.add(f"import {module}")
        return self.name


@dataclass(frozen=True, slots=True)
class OfBase(Construction):
    """A class of one's own that leaves everything to its base, called with arguments."""

    def _class(self, script: ScriptLines) -> str:
        script.define(_OWN.format(base=super(OfBase, self)._class(script)))
        return "Own"


_OWN = """\
class Own({base}):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def get_config(self):
        return super().get_config()
"""


def written(value: Argument, dialect: Dialect) -> str:
    """An argument as Python."""
    return _word(value, ScriptLines(dialect))


def _word(value: Argument, script: ScriptLines) -> str:
    if isinstance(value, Text):
        script.imports.update(value.imports)
        return value.text
    return script.plain(value)
