"""What a model is called on the command line, and the source that builds it.

Owns the spelling of one model, and the few lines of Python that load it. Nothing here opens a file.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from packaging.version import Version

from clonediff.harness.source import DIALECTS
from clonediff.harness.subjects.subject import Subject

APPLICATIONS = "applications"

_FUNCTION = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_]\w*)")
_NAME = re.compile(r"[A-Za-z]\w*")
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_WORDS: dict[str, bool | None] = {"None": None, "True": True, "False": False}
_SUCH_AS = f"{APPLICATIONS}:MobileNetV2:alpha=0.35:input_shape=96,96,3"

Value: TypeAlias = "str | int | float | bool | tuple[Value, ...] | None"


class ModelError(ValueError):
    """A MODEL or a --custom that says nothing that could be tried; the message says what would."""


class Model(msgspec.Struct, frozen=True):
    """A model as it was named. `path` is absolute; `name` is that of a function, or of an application.

    `options` are what the application is called with. One that has its `source` is a script that leaves it in `model`.
    """

    spec: str
    how: Literal["file", "function", "application", "source"]
    path: str = ""
    name: str = ""
    options: tuple[tuple[str, Value], ...] = ()
    source: str = ""


def parse(spec: str) -> Model:
    """The model of that name. That of all applications has no `name`."""
    if spec == APPLICATIONS:
        return Model(spec, "application")
    room, colon, name = spec.partition(":")
    if room == APPLICATIONS and colon:
        name, *options = name.split(":")
        if not _NAME.fullmatch(name):
            raise ModelError(
                f"{spec!r}: expected {APPLICATIONS}:NAME, such as {APPLICATIONS}:MobileNetV2 or {_SUCH_AS}"
            )
        return Model(spec, "application", name=name, options=_options(options, spec))
    function = function_in(spec, spec)
    if function is not None:
        return Model(spec, "function", *function)
    if spec.endswith(".py") and _existing(spec, spec).is_file():
        raise ModelError(f"{spec}: which function makes the model? Write {spec}:make_model, say")
    return Model(spec, "file", str(_existing(spec, spec)))


def function_in(text: str, spec: str) -> tuple[str, str] | None:
    """The file and the name of FILE.py:FUNCTION, None of any other text. `spec` is what an error names."""
    found = _FUNCTION.fullmatch(text)
    if found is None or Path(text).exists():
        return None
    file = _existing(found["file"], spec)
    importable(file)
    return str(file), found["name"]


def imported(file: Path, name: str) -> list[str]:
    """The lines that import a file of Python under a name."""
    return ["import sys", "", f"sys.path.insert(0, {_text(file.parent)})", *_imported(file.stem, name)]


def _options(texts: Sequence[str], spec: str) -> tuple[tuple[str, Value], ...]:
    """The options of an application: `input_shape=96,96,3` and the like, each once."""
    options: dict[str, Value] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier() or name in options:
            again = "twice " if name in options else ""
            raise ModelError(f"{spec!r}: found {again}{text!r}, expected OPTION=VALUE, as in {_SUCH_AS}")
        options[name] = _value(value, spec)
    if options.get("weights") is not None:
        raise ModelError(f"{spec!r}: weights are set to random numbers, expected weights=None or nothing of them")
    return tuple(options.items())


def _value(text: str, spec: str) -> Value:
    """A value as it is typed: None, True, False, a number, a word, or several of them with commas."""
    if "," in text:
        return tuple(_value(each, spec) for each in text.removesuffix(",").split(","))
    if text in _WORDS:
        return _WORDS[text]
    for number in (int, float):
        with contextlib.suppress(ValueError):
            return number(text)
    if not _WORD.fullmatch(text):
        raise ModelError(f"{spec!r}: {text!r} is no number, word, None, True or False, nor several with commas")
    return text


def custom_file(path: Path) -> Path:
    """The file that --custom names, absolute."""
    if path.suffix != ".py":
        raise ModelError(f"--custom {path}: expected a file of Python, NAME.py")
    file = _existing(str(path), f"--custom {path}")
    importable(file)
    return file


def source_of(model: Model, subject: Subject, custom: Path | None = None, *, unsafe: bool = False) -> str:
    """A script that leaves the model in `model`: plain Keras, as a person would have typed it."""
    if model.how == "source":
        return model.source
    folders = [Path(model.path).parent] if model.how == "function" else []
    folders += [custom.parent] if custom is not None else []
    lines = ["import sys", ""] if folders else []
    lines += [f"sys.path.insert(0, {_text(folder)})" for folder in dict.fromkeys(folders)]
    lines += [""] if folders else []
    lines.append(DIALECTS[subject.dialect].imports["keras"])
    arguments = []
    if custom is not None:
        lines += [*_imported(custom.stem, "own"), ""]
        of_file = f'getattr(value, "__module__", "") == {_text(custom.stem)}'
        lines.append(f"custom_objects = {{name: value for name, value in vars(own).items() if {of_file}}}")
        arguments.append("custom_objects=custom_objects")
    if model.how == "application":
        options = {"weights": None, **dict(model.options)}
        said = ", ".join(f"{name}={value!r}" for name, value in options.items())
        return "\n".join((*lines, "", f"model = keras.applications.{model.name}({said})", ""))
    if model.how == "function":
        stem = Path(model.path).stem
        return "\n".join((*lines, *_imported(stem, "theirs"), "", f"model = theirs.{model.name}()", ""))
    if unsafe and takes_safe_mode(subject):
        arguments.append("safe_mode=False")
    said = ", ".join((_text(model.path), *arguments))
    return "\n".join((*lines, "", f"model = keras.models.load_model({said})", ""))


def functions(file: Path) -> list[str]:
    """The functions that a file of Python defines, by name, without running it."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    return [each.name for each in tree.body if isinstance(each, ast.FunctionDef)]


def takes_safe_mode(subject: Subject) -> bool:
    """Whether the release's `load_model` can be told to load safely, or not to."""
    since = DIALECTS[subject.dialect].safe_mode
    return bool(since) and (subject.version is None or Version(subject.version) >= Version(since))


def _imported(stem: str, name: str) -> list[str]:
    if stem.isidentifier():
        return [f"import {stem} as {name}"]
    return ["import importlib", "", f"{name} = importlib.import_module({_text(stem)})"]


def _existing(path: str, spec: str) -> Path:
    found = Path(path).expanduser().absolute()
    if not found.exists():
        raise ModelError(
            f"{spec}: no such file or folder; a model is a file (.keras, .h5), a folder (a SavedModel, or one of "
            f"models), FILE.py, FILE.py:FUNCTION or {APPLICATIONS}:NAME"
        )
    try:
        str(found).encode()
    except UnicodeEncodeError:
        raise ModelError(f"{spec}: the name of the file, or of a folder around it, is no UTF-8: rename it") from None
    return found


def importable(file: Path) -> None:
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
