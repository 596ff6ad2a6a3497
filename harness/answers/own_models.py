"""A model of the user's: loaded from a file, and how each cloner is called on it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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

    `clones` is how the script of a difference clones it. `asked` has the layers that a clone function makes otherwise,
    once it was called. `unbuilt` has the cloners whose clone of a subclassed model has no weights yet.
    """

    kind: str
    model: Any
    source: str
    cloners: Mapping[str, Any]
    generation: Generation = "keras"
    clones: str = f"clone = {_CLONE}"
    asked: dict[str, str] = field(default_factory=dict)
    unbuilt: dict[str, str] = field(default_factory=dict)


def own_model(
    spec: str, cloners: Sequence[str], clone_function: str = "", input_shapes: Sequence[str] = ()
) -> OwnModel:
    """The model of a name on the command line, to be cloned as it is, or with these arguments of `clone_model`."""
    generation, source = _source_of(spec)
    keras_here(generation)
    for name in filter(is_users, (*cloners, clone_function)):
        if why := problem(name):
            raise ModelError(why)
    model = _loaded(spec, source)
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    generation = "tf_keras" if "tf_keras" in packages else "keras"
    own = OwnModel(type(model).__name__, model, source, {name: name for name in cloners}, generation)
    if not isinstance(model, keras_here(generation).keras.models.Model):
        return own  # and it is refused for what it is
    if not keras_here(generation).is_graph(model):
        return _around(spec, own)
    return _with_arguments(own, clone_function, input_shapes) if clone_function or input_shapes else own


def _cloner(name: str, own: OwnModel) -> Callable[..., Any]:
    """The function that a cloner is: of a model and of what `clone_model` is given."""
    from clonediff.harness.fixed import clone_model

    theirs = keras_here(own.generation).keras.models.clone_model
    return {"upstream": theirs, "fixed": clone_model}.get(name) or function(name)


def _with_arguments(own: OwnModel, clone_function: str, input_shapes: Sequence[str]) -> OwnModel:
    """The model, cloned with arguments: what they ask for is no difference.

    On inputs of other shapes no clone can be compared with the model, so it is with the clone that ours is.
    """
    keras = keras_here(own.generation).keras
    options: dict[str, Any] = {}
    if clone_function:
        wanted = function(clone_function)

        def recorded(layer: Any) -> Any:
            other = wanted(layer)
            asked = _otherwise(layer, other)
            own.asked.update({layer.name: asked} if asked else {})
            return other

        options["clone_function"] = recorded

    def cloner(name: str) -> Callable[[Any], Any]:
        clone = _cloner(name, own)

        def call(model: Any) -> Any:
            given = dict(options)
            if input_shapes:
                model = own.model
                given["input_tensors"] = _inputs(model, input_shapes, keras)
            return clone(model, **given)

        return call

    if input_shapes and len(input_shapes) != len(own.model.inputs):
        message = f"--input-shape: found {len(input_shapes)}, expected one for each of {len(own.model.inputs)} inputs"
        raise ModelError(message)
    cloners = {name: cloner(name) for name in own.cloners}
    if not input_shapes:
        return replace(own, cloners=cloners, clones="")
    reference = cloner("fixed")(own.model)
    own.asked.clear()
    others = {name: each for name, each in cloners.items() if name != "fixed"}
    kind = f"{own.kind}, compared with clonediff.clone_model(model, input_tensors=...)"
    return replace(own, kind=kind, model=reference, cloners=others, clones="")


def _inputs(model: Any, shapes: Sequence[str], keras: Any) -> Any:
    """New inputs of these shapes, nested as those of the model."""
    ends = zip(model.inputs, shapes, strict=True)
    new = [keras.Input(_sizes(shape), dtype=end.dtype, name=end.name) for end, shape in ends]
    nested = getattr(model, "input", None)  # which no Sequential of Keras 3 has
    if isinstance(nested, dict):
        numbers = {id(end): number for number, end in enumerate(model.inputs)}
        return {key: new[numbers[id(end)]] for key, end in nested.items()}
    return new if isinstance(nested, list | tuple) else new[0]


def _sizes(text: str) -> tuple[int | None, ...]:
    try:
        return tuple(None if size == "None" else int(size) for size in text.split(",") if size)
    except ValueError:
        raise ModelError(f"--input-shape: expected sizes as in 32,32,3 or None,3, found {text!r}") from None


def _otherwise(layer: Any, other: Any) -> str:
    """How a layer of a clone function is another than a plain clone; "" where it is none."""
    if other is layer:
        return "the layer itself"
    if type(other) is not type(layer):
        return type(other).__name__
    before, after = layer.get_config(), other.get_config()
    changed = [name for name in before if name != "name" and str(before[name]) != str(after.get(name))]
    return ", ".join(f"{name}={_short(after.get(name))}" for name in changed)


def _short(value: Any) -> str:
    """A setting, of what has a config the name."""
    config = value.get("config") if isinstance(value, dict) else None
    return str(config.get("name") or value.get("class_name")) if isinstance(config, dict) else repr(value)[:40]


def _around(spec: str, own: OwnModel) -> OwnModel:
    """A functional model around a subclassed one, which has no graph to compare; what is cloned is that alone."""
    model, shapes = own.model, getattr(own.model, "_build_shapes_dict", None)
    shapes = shapes or {"": getattr(model, "_build_input_shape", None)}
    name = type(model).__name__
    ends = _ends(next(iter(shapes.values())), model) if len(shapes) == 1 else ""
    if not ends:
        reason, advice = f"{name} is subclassed", "let the function return keras.Model(inputs, model(inputs))"
        if not any(shapes.values()):
            reason, advice = f"{reason}, and was not called on data", "let the function call it on its input"
        raise ModelError(f"{spec} cannot be checked: {reason}: {advice}. clonediff.clone_model clones it as it is")
    keras, outer = DIALECTS[own.generation].imports["keras"], "keras.Model(x, {}(x), name='around')"
    lines = [keras, f"x = {ends}", f"model = {outer.format('model')}"]
    source = "\n".join((own.source, *lines, ""))
    around = _loaded(spec, source)

    def cloner(name: str) -> Callable[[Any], Any]:
        clone = _cloner(name, own)

        def call(model: Any) -> Any:
            inner = model.layers[-1]
            twin = clone(inner)
            if len(twin.weights) != len(inner.weights):
                own.unbuilt[name] = f"{len(twin.weights)} of {len(inner.weights)} weights"
            names: dict[str, Any] = {"model": twin}
            exec("\n".join(lines), names)
            return names["model"]

        return call

    inner = _CLONE.replace("(model)", "(model.layers[-1])")
    clones = f"inner = {inner}\nclone = {outer.format('inner')}"
    kind = f"{own.kind}, subclassed: compared in a functional model around it"
    cloners = {name: cloner(name) for name in own.cloners}
    return replace(own, kind=kind, model=around, source=source, cloners=cloners, clones=clones)


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
