"""A model of the user's: loaded from a file, and how each cloner is called on it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from clonediff.harness.answers.keras_here import keras_here
from clonediff.harness.inside.cloners.users import function, is_users, problem
from clonediff.strategies.dialects import DIALECTS
from clonediff.strategies.program import Generation

_CLONE = "keras.models.clone_model(model)"


class ModelError(ValueError):
    """A model that is not there, cannot be loaded or cannot be checked; the message says what to do."""


@dataclass(frozen=True)
class OwnModel:
    """A model, the script that leaves it in `model`, and what is called to clone it, by the name of each cloner.

    `clones` is how the script of a difference clones it; "" where none can. `todo` is left where a clone is
    faithful. `asked` has the layers that a clone
    function makes otherwise, and how, once it was called.
    """

    kind: str
    model: Any
    source: str
    cloners: Mapping[str, Any]
    clones: str = f"clone = {_CLONE}"
    todo: str = "nothing to do"
    asked: dict[str, str] = field(default_factory=dict)


def own_model(spec: str, cloners: Sequence[str], clone_function: str = "") -> OwnModel:
    """The model of a name on the command line, to be cloned as it is, or with a clone function."""
    generation, source = _source_of(spec)
    keras_here(generation)
    for name in filter(is_users, (*cloners, clone_function)):
        if why := problem(name):
            raise ModelError(why)
    model = _loaded(spec, source)
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    generation = "tf_keras" if "tf_keras" in packages else "keras"
    framework = keras_here(generation)
    own = OwnModel(type(model).__name__, model, source, {name: name for name in cloners})
    if not isinstance(model, framework.keras.models.Model):
        return own  # and it is refused for what it is
    if not framework.is_graph(model):
        return _around(spec, own, generation)
    if clone_function:
        wanted = partial(_recorded, function(clone_function), own.asked)
        calls = {name: partial(_cloner(name, generation), clone_function=wanted) for name in cloners}
        return replace(own, cloners=calls, clones="")
    return own


def _cloner(name: str, generation: Generation) -> Callable[..., Any]:
    """The function that a cloner is: of a model and of what `clone_model` is given."""
    from clonediff.harness.fixed import clone_model

    theirs = keras_here(generation).keras.models.clone_model
    return {"upstream": theirs, "fixed": clone_model}.get(name) or function(name)


def _recorded(clone_function: Callable[[Any], Any], asked: dict[str, str], layer: Any) -> Any:
    """What a clone function makes of a layer; `asked` gets how that is another than a plain clone."""
    other = clone_function(layer)
    if other is layer:
        asked[layer.name] = "the layer itself"
    elif type(other) is not type(layer):
        asked[layer.name] = type(other).__name__
    else:
        before, after = layer.get_config(), other.get_config()
        changed = [name for name in before if name != "name" and str(before[name]) != str(after.get(name))]
        asked.update({layer.name: f"another {', '.join(changed)}"} if changed else {})
    return other


def _around(spec: str, own: OwnModel, generation: Generation) -> OwnModel:
    """A functional model around a subclassed one, which has no graph to compare; what is cloned is that alone."""
    model, shapes = own.model, getattr(own.model, "_build_shapes_dict", None)
    shapes = shapes or {"": getattr(model, "_build_input_shape", None)}
    ends = _ends(next(iter(shapes.values())), model) if len(shapes) == 1 else ""
    if not ends:
        reason, advice = f"{own.kind} is subclassed", "let the function return keras.Model(inputs, model(inputs))"
        if not any(shapes.values()):
            reason, advice = f"{reason}, and was not called on data", "let the function call it on its input"
        raise ModelError(f"{spec} cannot be checked: {reason}: {advice}. clonediff.clone_model clones it as it is")
    outer = "keras.Model(x, {}(x), name='around')"
    lines = "\n".join((DIALECTS[generation].imports["keras"], f"x = {ends}", f"model = {outer.format('model')}", ""))
    source = f"{own.source}\n{lines}"

    def called(clone: Callable[..., Any], around: Any) -> Any:
        names = {"model": clone(around.layers[-1])}
        exec(lines, names)
        return names["model"]

    inner = _CLONE.replace("(model)", "(model.layers[-1])")
    return replace(
        own,
        kind=f"{own.kind}, subclassed: compared in a functional model around it",
        todo="call the clone before you set its weights",
        model=_loaded(spec, source),
        source=source,
        cloners={name: partial(called, _cloner(name, generation)) for name in own.cloners},
        clones=f"inner = {inner}\nclone = {outer.format('inner')}",
    )


def _ends(shape: Any, model: Any, end: str = "x") -> str:
    """The inputs of the shape on which a model was called, as source; "" where that is not known."""
    if isinstance(shape, dict):
        parts = {name: _ends(each, model, name) for name, each in shape.items()}
        return f"{{{', '.join(f'{name!r}: {part}' for name, part in parts.items())}}}" if all(parts.values()) else ""
    sizes = list(shape or ())
    if sizes and all(not isinstance(size, int | None) for size in sizes):
        ends = [_ends(each, model, f"{end}{number}") for number, each in enumerate(sizes)]
        return f"[{', '.join(ends)}]" if all(ends) else ""
    if not sizes:
        return ""
    spec = getattr(model, "_saved_model_inputs_spec", None)
    dtype = getattr(getattr(spec, "dtype", None), "name", "float32")
    return f"keras.Input({tuple(sizes[1:])}, dtype={dtype!r}, name={end!r})"


def _source_of(spec: str) -> tuple[Generation, str]:
    """The generation of Keras that reads a file, and a script that leaves the model in `model`."""
    path, colon, function = spec.rpartition(".py:")
    file = Path(f"{path}.py" if colon else spec).absolute()
    if not file.is_file():
        raise ModelError(f"{spec}: no such file")
    if colon:
        lines = ["import importlib", "import sys", "", f"sys.path.insert(0, {json.dumps(str(file.parent))})", ""]
        lines.append(f"model = importlib.import_module({json.dumps(file.stem)}).{function}()")
        return "keras", "\n".join((*lines, ""))
    if file.suffix != ".keras":
        raise ModelError(f"{spec}: expected FILE.keras or FILE.py:FUNCTION, a function that makes or loads the model")
    generation = _saved_by(file)
    keras = DIALECTS[generation].imports["keras"]
    return generation, f"{keras}\n\nmodel = keras.models.load_model({json.dumps(str(file))})\n"


def _saved_by(file: Path) -> Generation:
    """The generation of Keras that saved a file: `tf_keras` is Keras 2."""
    try:
        with zipfile.ZipFile(file) as archive:
            version = json.loads(archive.read("metadata.json"))["keras_version"]
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ModelError(f"{file.name} is damaged, or no saved model: {error}; save it again with model.save") from None
    return "tf_keras" if str(version).startswith("2.") else "keras"


def _loaded(spec: str, source: str) -> Any:
    """The model that the script leaves."""
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(source, "<model>", "exec"), names)
    except Exception as error:  # a file may be anything, and its loading end in anything
        # It stands before the error, since those of Keras are long.
        advice = "" if ".py:" in spec else " (check FILE.py:FUNCTION, a function that loads it)"
        raise ModelError(f"{spec} cannot be loaded{advice}: {type(error).__name__}: {error}") from None
    return names["model"]
