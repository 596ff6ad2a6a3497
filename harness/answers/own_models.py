"""A model of the user's: loaded from a file, and how each cloner is called on it."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from clonediff.harness.inside.cloners.users import function, is_users, problem
from clonediff.harness.subjects.environment import environment
from clonediff.harness.subjects.subject import Subject
from clonediff.strategies.dialects import DIALECTS
from clonediff.strategies.program import Generation

_CLONE = "clone = keras.models.clone_model(model)"


@dataclass(frozen=True)
class OwnModel:
    """A model, the script that leaves it in `model`, and the functions that clone it, by the name of each cloner.

    `clones` is how the script of a difference clones it; "" where none can. `todo` is left where a clone is
    faithful. `asked` has the layers of which a clone function makes something else, and of which class, once it was
    called.
    """

    kind: str
    model: Any
    source: str
    cloners: Mapping[str, Callable[..., Any]]
    clones: str = _CLONE
    todo: str = "nothing to do"
    asked: dict[str, str] = field(default_factory=dict)


def own_model(spec: str, cloners: Sequence[str], clone_function: str = "") -> OwnModel:
    """The model of a name on the command line, to be cloned as it is, or with a clone function.

    A `ValueError` or a `TypeError` says why it cannot be checked, and what to do.
    """
    from clonediff.harness.inside.cloners import TrialContext, clone_model_by, cloner
    from clonediff.harness.inside.frameworks import generation_of

    generation, source = _source_of(spec)
    _keras_here(generation)
    for name in filter(is_users, (*cloners, clone_function)):
        if why := problem(name):
            raise ValueError(why)
    model = _loaded(source)
    generation = generation_of(model)
    framework = _keras_here(generation)
    context = TrialContext(framework, {})
    calls = {name: clone_model_by(cloner(name), context) for name in cloners}
    own = OwnModel(type(model).__name__, model, source, calls)
    if isinstance(model, framework.keras.models.Model) and not framework.is_graph(model):
        return _around(own, DIALECTS[generation].imports["keras"])
    if clone_function:
        wanted = partial(_recorded, function(clone_function), own.asked)
        calls = {name: partial(call, clone_function=wanted) for name, call in calls.items()}
        return replace(own, cloners=calls, clones="")
    return own


def _keras_here(generation: Generation) -> Any:
    """The framework of a generation, set up as a subject's process is. What TensorFlow says when it starts is left out.

    A variable of the environment that is set already is left alone.
    """
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


def _recorded(clone_function: Callable[[Any], Any], asked: dict[str, str], layer: Any) -> Any:
    """What a clone function makes of a layer; `asked` gets its class, if that is no plain clone."""
    other = clone_function(layer)
    if other is layer or type(other) is not type(layer) or str(other.get_config()) != str(layer.get_config()):
        asked[layer.name] = type(other).__name__
    return other


def _around(own: OwnModel, imports: str) -> OwnModel:
    """A functional model around a subclassed one, which has no graph to compare; what is cloned is that alone."""
    shapes = getattr(own.model, "_build_shapes_dict", None) or {"": getattr(own.model, "_build_input_shape", None)}
    sizes = tuple(next(iter(shapes.values())) or ())
    if not sizes or len(shapes) > 1 or not all(isinstance(size, int | None) for size in sizes):
        advice = "let the function call it on one tensor, or return keras.Model(inputs, model(inputs))"
        raise ValueError(f"{own.kind} is subclassed: {advice}. clonediff.clone_model clones it as it is")
    dtype = getattr(getattr(own.model, "_saved_model_inputs_spec", None), "dtype", None)
    ends = f"x = keras.Input({sizes[1:]}, dtype={getattr(dtype, 'name', 'float32')!r}, name='x')"
    outer = "keras.Model(x, {}(x), name='around')"
    lines = "\n".join((imports, ends, f"model = {outer.format('model')}", ""))

    def around(inner: Any) -> Any:
        names = {"model": inner}
        exec(lines, names)
        return names["model"]

    def called(clone: Callable[..., Any], whole: Any) -> Any:
        return around(clone(whole.layers[-1]))

    inner = _CLONE.replace("clone =", "inner =").replace("(model)", "(model.layers[-1])")
    return replace(
        own,
        kind=f"{own.kind}, subclassed: compared in a functional model around it",
        todo="call the clone before you set its weights",
        model=around(own.model),
        source=f"{own.source}\n{lines}",
        cloners={name: partial(called, clone) for name, clone in own.cloners.items()},
        clones=f"{inner}\nclone = {outer.format('inner')}",
    )


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
    generation = _saved_by(file)
    keras = DIALECTS[generation].imports["keras"]
    return generation, f"{keras}\n\nmodel = keras.models.load_model({json.dumps(str(file))})\n"


def _saved_by(file: Path) -> Generation:
    """The generation of Keras that saved a file: `tf_keras` is Keras 2."""
    try:
        with zipfile.ZipFile(file) as archive:
            version = json.loads(archive.read("metadata.json"))["keras_version"]
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ValueError(f"it is damaged, or no saved model: {error}; save it again with model.save") from None
    return "tf_keras" if str(version).startswith("2.") else "keras"


def _loaded(source: str) -> Any:
    """The model that the script leaves."""
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(source, "<model>", "exec"), names)
    except Exception as error:  # a file may be anything, and its loading end in anything
        # It stands before the error, since those of Keras are long.
        advice = " (check FILE.py:FUNCTION, a function that loads it)" if "load_model" in source else ""
        raise ValueError(f"it cannot be loaded{advice}: {type(error).__name__}: {error}") from None
    return names["model"]
