"""Load a user's model, and prepare the cloners for it."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from clonediff.harness.inside.cloners.users import cloner_problem, import_cloner, is_users_cloner, record_replacement
from clonediff.harness.subjects.environment import environment
from clonediff.harness.subjects.subject import Subject
from clonediff.strategies.dialects import DIALECTS
from clonediff.strategies.program import Generation


class UserModel(NamedTuple):
    """A model, the script that assigns it to `model`, and the cloners by name.

    `subclass` is the class name of a model that was wrapped in a functional model, or "". The clone function adds
    the name and new class of each layer that it replaces to `replaced`, which is None without a clone function.
    """

    model: Any
    source: str
    cloners: Mapping[str, Any]
    subclass: str = ""
    replaced: dict[str, str] | None = None


def load_user_model(spec: str, cloners: Sequence[str], clone_function: str = "") -> UserModel:
    """Load the model that `spec`, an argument of the command line, names.

    Raises `ValueError` or `TypeError` if the model cannot be checked.
    """
    from clonediff.harness.inside.cloners import chosen_cloners
    from clonediff.harness.inside.frameworks import generation_of
    from clonediff.harness.inside.subclassed import clone_wrapped_model, is_subclassed, wrapping_source

    generation, source = _source_of(spec)
    _import_keras(generation)
    for name in filter(is_users_cloner, (*cloners, clone_function)):
        if problem := cloner_problem(name):
            raise ValueError(problem)
    model = _run_script(source)
    framework = _import_keras(generation_of(model))
    functions = chosen_cloners(cloners, framework)
    if is_subclassed(model, framework):
        if clone_function:
            reason = f"{type(model).__name__} is subclassed, but a clone function needs a model with a graph"
            raise ValueError(f"{reason}: omit --clone-function")
        lines = wrapping_source(model)
        source = f"{source}\n{DIALECTS[framework.generation].imports['keras']}\n{lines}"
        calls = {name: partial(clone_wrapped_model, lines, clone, framework.keras) for name, clone in functions.items()}
        return UserModel(_run_script(source), source, calls, type(model).__name__)
    if not clone_function:
        return UserModel(model, source, {name: name for name in cloners})
    replaced: dict[str, str] = {}
    recorder = partial(record_replacement, import_cloner(clone_function), replaced)
    calls = {name: partial(clone, clone_function=recorder) for name, clone in functions.items()}
    return UserModel(model, source, calls, replaced=replaced)


def _import_keras(generation: Generation) -> Any:
    """Import Keras as in a child process; return its framework."""
    for name, value in environment(Subject.parse(generation)).items():
        os.environ.setdefault(name, value)
    stderr, devnull = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 2)
    try:
        from clonediff.harness.inside.frameworks import framework

        return framework(generation)
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(devnull)


def _source_of(spec: str) -> tuple[Generation, str]:
    """The generation of the model, and a script that assigns it to `model`."""
    path, colon, function = spec.rpartition(".py:")
    file = Path(f"{path}.py" if colon else spec).absolute()
    if not file.is_file():
        raise ValueError("there is no such file: correct the path")
    if colon:
        lines = ["import importlib", "import sys", "", f"sys.path.insert(0, {json.dumps(str(file.parent))})", ""]
        lines.append(f"model = importlib.import_module({json.dumps(file.stem)}).{function}()")
        return "keras", "\n".join((*lines, ""))
    if file.suffix != ".keras":
        raise ValueError("expected FILE.keras or FILE.py:FUNCTION, a function that creates or loads the model")
    try:
        with zipfile.ZipFile(file) as archive:
            version = json.loads(archive.read("metadata.json"))["keras_version"]
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ValueError(f"it is damaged or not a saved model: {error}; save it again with model.save") from None
    generation: Generation = "tf_keras" if str(version).startswith("2.") else "keras"
    keras = DIALECTS[generation].imports["keras"]
    return generation, f"{keras}\n\nmodel = keras.models.load_model({json.dumps(str(file))})\n"


def _run_script(source: str) -> Any:
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(source, "<model>", "exec"), names)
    except Exception as error:  # a user's file may raise anything
        advice = " (write a function that loads it, and pass FILE.py:FUNCTION)" if "load_model" in source else ""
        raise ValueError(f"it cannot be loaded{advice}: {type(error).__name__}: {error}") from None
    return names["model"]
