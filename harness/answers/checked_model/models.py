"""What a model is called on the command line, and the source that builds it.

Owns the spelling of a model, and the few lines of Python that load it. Nothing here opens a file.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
from pathlib import Path
from typing import Literal

import msgspec

from clonediff.harness.source import DIALECTS
from clonediff.harness.subjects.subject import Subject

_FUNCTION = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_]\w*)")


class ModelError(ValueError):
    """A MODEL that says nothing that could be tried; the message says what would."""


class Model(msgspec.Struct, frozen=True):
    """A model as it was named. `path` is absolute; `name` is that of a function."""

    spec: str
    how: Literal["file", "function"]
    path: str
    name: str = ""


def parse(spec: str) -> Model:
    """The model of that name."""
    found = _FUNCTION.fullmatch(spec)
    if found is not None and not Path(spec).exists():
        file = _existing(found["file"], spec)
        _importable(file)
        return Model(spec, "function", str(file), found["name"])
    file = _existing(spec, spec)
    if spec.endswith(".py"):
        raise ModelError(f"{spec}: which function makes the model? Write {spec}:make_model, say")
    return Model(spec, "file", str(file))


def source_of(model: Model, subject: Subject, *, unsafe: bool = False) -> str:
    """A script that leaves the model in `model`: plain Keras, as a person would have typed it."""
    lines = [DIALECTS[subject.generation].imports["keras"]]
    path = Path(model.path)
    if model.how == "function":
        lines = ["import sys", "", f"sys.path.insert(0, {_text(path.parent)})", "", *lines]
        return "\n".join((*lines, *_imported(path.stem), "", f"model = theirs.{model.name}()", ""))
    arguments = [_text(path), *(["safe_mode=False"] if unsafe else [])]
    return "\n".join((*lines, "", f"model = keras.models.load_model({', '.join(arguments)})", ""))


def functions(file: Path) -> list[str]:
    """The functions that a file of Python defines, by name, without running it."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    return [each.name for each in tree.body if isinstance(each, ast.FunctionDef)]


def _imported(stem: str) -> list[str]:
    if stem.isidentifier():
        return [f"import {stem} as theirs"]
    return ["import importlib", "", f"theirs = importlib.import_module({_text(stem)})"]


def _existing(path: str, spec: str) -> Path:
    found = Path(path).expanduser().absolute()
    if not found.is_file():
        raise ModelError(f"{spec}: no such file; a model is a file (.keras, .h5) or FILE.py:FUNCTION")
    try:
        str(found).encode()
    except UnicodeEncodeError:
        raise ModelError(f"{spec}: the name of the file, or of a folder around it, is no UTF-8: rename it") from None
    return found


def _importable(file: Path) -> None:
    """A file is imported by its name, and must not be taken for, nor hide, what goes by that name already."""
    if "." in file.stem:
        raise ModelError(f"{file}: a module's name has no dot in it: rename the file")
    try:
        taken = importlib.util.find_spec(file.stem)
    except (ImportError, ValueError):
        taken = None
    if taken is not None and taken.origin != str(file):
        raise ModelError(f"{file}: {file.stem} is the name of a module that is installed: rename the file")


def _text(value: object) -> str:
    return json.dumps(str(value), ensure_ascii=True)
