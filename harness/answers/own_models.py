"""A model of the user's: loaded from a file, and how each cloner is called on it."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from clonediff.harness.inside.cloners.users import function, is_users, problem, recorded
from clonediff.harness.subjects.environment import environment
from clonediff.harness.subjects.subject import Subject
from clonediff.strategies.dialects import DIALECTS
from clonediff.strategies.program import Generation


class OwnModel(NamedTuple):
    """A model, the script that leaves it in `model`, and what clones it, by the name of each cloner.

    `subclassed` is the class of one that is compared in a model around it. `asked` gets the layers of which a clone
    function makes something else, and of which class; it is None without one.
    """

    model: Any
    source: str
    cloners: Mapping[str, Any]
    subclassed: str = ""
    asked: dict[str, str] | None = None


def own_model(spec: str, cloners: Sequence[str], clone_function: str = "") -> OwnModel:
    """The model of a name on the command line, to be cloned as it is, or with a clone function.

    A `ValueError` or a `TypeError` says why it cannot be checked, and what to do.
    """
    from clonediff.harness.inside.cloners import chosen_cloners
    from clonediff.harness.inside.frameworks import generation_of
    from clonediff.harness.inside.subclassed import cloned_within, is_subclassed, lines_around

    generation, source = _source_of(spec)
    _keras_here(generation)
    for name in filter(is_users, (*cloners, clone_function)):
        if why := problem(name):
            raise ValueError(why)
    model = _loaded(source)
    framework = _keras_here(generation_of(model))
    clones = chosen_cloners(cloners, framework)
    if is_subclassed(model, framework):
        if clone_function:
            only = f"{type(model).__name__} is subclassed, and a clone function is for the layers of a graph only"
            raise ValueError(f"{only}: leave out --clone-function")
        lines = lines_around(model)
        source = f"{source}\n{DIALECTS[framework.generation].imports['keras']}\n{lines}"
        calls = {name: partial(cloned_within, lines, clone, framework.keras) for name, clone in clones.items()}
        return OwnModel(_loaded(source), source, calls, type(model).__name__)
    if not clone_function:
        return OwnModel(model, source, {name: name for name in cloners})
    asked: dict[str, str] = {}
    wanted = partial(recorded, function(clone_function), asked)
    calls = {name: partial(clone, clone_function=wanted) for name, clone in clones.items()}
    return OwnModel(model, source, calls, asked=asked)


def _keras_here(generation: Generation) -> Any:
    """The framework of a generation, in the environment of a subject; what TensorFlow says first is dropped."""
    for name, value in environment(Subject.parse(generation)).items():
        os.environ.setdefault(name, value)
    before, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        from clonediff.harness.inside.frameworks import framework

        return framework(generation)
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)


def _source_of(spec: str) -> tuple[Generation, str]:
    """The generation of Keras that reads a file, and a script that leaves the model in `model`."""
    path, colon, function = spec.rpartition(".py:")
    file = Path(f"{path}.py" if colon else spec).absolute()
    if not file.is_file():
        raise ValueError("there is no such file")
    if colon:
        lines = ["import importlib", "import sys", "", f"sys.path.insert(0, {json.dumps(str(file.parent))})", ""]
        lines.append(f"model = importlib.import_module({json.dumps(file.stem)}).{function}()")
        return "keras", "\n".join((*lines, ""))
    if file.suffix != ".keras":
        raise ValueError("expected FILE.keras or FILE.py:FUNCTION, a function that makes or loads the model")
    try:
        with zipfile.ZipFile(file) as archive:
            version = json.loads(archive.read("metadata.json"))["keras_version"]
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ValueError(f"it is damaged, or no saved model: {error}; save it again with model.save") from None
    saved_by: Generation = "tf_keras" if str(version).startswith("2.") else "keras"
    keras = DIALECTS[saved_by].imports["keras"]
    return saved_by, f"{keras}\n\nmodel = keras.models.load_model({json.dumps(str(file))})\n"


def _loaded(source: str) -> Any:
    """The model that the script leaves."""
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(source, "<model>", "exec"), names)
    except Exception as error:  # a file may be anything, and its loading end in anything
        advice = " (check FILE.py:FUNCTION, a function that loads it)" if "load_model" in source else ""
        raise ValueError(f"it cannot be loaded{advice}: {type(error).__name__}: {error}") from None
    return names["model"]
