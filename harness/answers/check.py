"""A model of one's own: loaded in this process, cloned by each cloner, compared, with a script for each cause.

Where upstream makes no clone, what the configs of the model's objects lose is told as well.
"""

from __future__ import annotations

import json
import platform
import zipfile
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from clonediff.harness.answers.causes import CauseShown, cause_shown
from clonediff.harness.answers.in_process import clone_live
from clonediff.harness.answers.keras_here import keras_here
from clonediff.harness.inside.cloners.users import is_users, problem
from clonediff.harness.observation import Case
from clonediff.harness.scripts.reproducer import reproducer, with_versions
from clonediff.harness.trials.triage import makes_a_clone, with_blame
from clonediff.reports.known import load
from clonediff.reports.records import UPSTREAM_AND_FIXED, Blame, Cause
from clonediff.strategies.dialects import DIALECTS
from clonediff.strategies.program import Generation

_REVIVED = "revived"


class ModelError(ValueError):
    """A model that is not there, cannot be loaded or cannot be checked; the message says what to do."""


class Checked(msgspec.Struct, frozen=True):
    """A model, what it was fed, and what each cloner breaks; `alone` has what configs lose where upstream crashes."""

    model: str
    kind: str
    versions: dict[str, str]
    inputs: tuple[str, ...]
    clones: dict[str, tuple[CauseShown, ...]]
    alone: tuple[CauseShown, ...] = ()

    @property
    def causes(self) -> tuple[CauseShown, ...]:
        """Everything that was found, upstream's first."""
        return (*(cause for causes in self.clones.values() for cause in causes), *self.alone)

    def fails(self, ignored: Collection[str] = ()) -> bool:
        """Whether a user would mind something that is not ignored."""
        return any(not ignored_by(cause, ignored) for cause in minded(self.causes))


def ignored_by(cause: CauseShown, ignored: Collection[str]) -> bool:
    """Whether a cause is ignored: by its fingerprint, by the known issue that explains it, or as what is documented."""
    return cause.id in ignored or cause.known in ignored or (cause.documented and "documented" in ignored)


def minded(causes: Collection[CauseShown]) -> list[CauseShown]:
    """What a user would mind: not that a name is another. What Keras documents that a clone lacks, it lacks."""
    return [cause for cause in causes if not cause.name_only]


def check(spec: str, cloners: Sequence[str] = UPSTREAM_AND_FIXED) -> Checked:
    """Check a model by its name on the command line."""
    generation, source = source_of(spec)
    keras_here(generation)
    for name in filter(is_users, cloners):
        if why := problem(name):
            raise ModelError(why)
    model = _loaded(spec, source)
    kind = type(model).__name__
    if lines := _around(spec, model):
        source = f"{source}\n{lines}"
        model, kind = _loaded(spec, source), f"{kind}, subclassed, in a functional model around it"
    try:
        cloned = clone_live(model, {name: name for name in cloners})
    except (TypeError, ValueError, RuntimeError) as error:
        raise ModelError(f"{spec} cannot be checked: {error}") from None
    generation = cloned.generation  # a function may make a model of either
    by_cloner = {name: cloned.causes_of(name, promised=False) for name in cloners}
    if not makes_a_clone(by_cloner.get("upstream", ())):
        by_cloner[_REVIVED] = _lost_by_configs(model, generation)
    keras = DIALECTS[generation].imports["keras"]
    case = Case(source if keras in source else f"{keras}\n{source}", cloned.fed, batch=cloned.fed[0]["batch"])
    known, release = load().on(generation, cloned.versions["keras"]), cloned.versions
    backend = {release["backend"]: release["backend_version"]}
    versions = {generation: release["keras"], **backend, "python": platform.python_version()}

    def shown(cause: Cause, cloner: str) -> CauseShown:
        if cloner == _REVIVED:  # each fact is of upstream's making, and no script revives objects alone
            return cause_shown(replace(cause, blame=Blame.UPSTREAM), known.of(cause))
        script = with_versions(reproducer(case, generation, cause.root, cloner), versions)
        text = script.text if script.raises else ""  # one that compares nothing shows nothing
        return cause_shown(cause, known.of(cause) if cloner == "upstream" else None, script=text)

    causes = {name: tuple(shown(cause, name) for cause in of_it) for name, of_it in with_blame(by_cloner).items()}
    alone = causes.pop(_REVIVED, ())
    return Checked(spec, kind, versions, tuple(map(_fed, cloned.fed)), causes, alone)


def _around(spec: str, model: Any) -> str:
    """The lines that make a functional model around a subclassed one, which has no graph to compare; else ""."""
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    generation: Generation = "tf_keras" if "tf_keras" in packages else "keras"
    framework = keras_here(generation)
    if not isinstance(model, framework.keras.models.Model) or framework.is_graph(model):
        return ""
    by_argument = getattr(model, "_build_shapes_dict", None) or {"": getattr(model, "_build_input_shape", None)}
    shapes = [tuple(shape or ()) for shape in by_argument.values()]
    if len(shapes) != 1 or not shapes[0] or not all(type(size) is int for size in shapes[0][1:]):
        message = "is subclassed, and was not called on one array: check a function that calls it first, or puts it"
        raise ModelError(f"{spec} cannot be checked: {type(model).__name__} {message} into a functional model")
    spec_of_input = getattr(model, "_saved_model_inputs_spec", None)
    dtype = getattr(getattr(spec_of_input, "dtype", None), "name", "float32")
    lines = [DIALECTS[generation].imports["keras"], f'x = keras.Input({shapes[0][1:]}, dtype="{dtype}", name="x")']
    return "\n".join([*lines, "model = keras.Model(x, model(x))", ""])


def source_of(spec: str) -> tuple[Generation, str]:
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
        advice = (
            "" if ".py:" in spec else " (check FILE.py:FUNCTION, a function that loads it)"
        )  # errors of Keras are long
        raise ModelError(f"{spec} cannot be loaded{advice}: {type(error).__name__}: {error}") from None
    return names["model"]


def _lost_by_configs(model: Any, generation: Generation) -> list[Cause]:
    """What each layer, loss, metric and optimizer loses where it is revived alone from its config."""
    from clonediff.harness.inside.revived import revived

    cloner = partial(revived, framework=keras_here(generation))
    causes = clone_live(model, {_REVIVED: cloner}, costly=False).causes_of(_REVIVED)
    return [cause for cause in causes if cause.root.check != "made"]


def _fed(spec: Mapping[str, Any]) -> str:
    """How an input was drawn, for a person."""
    shape = ", ".join(map(str, (spec["batch"], *spec["shape"])))
    how = {"ids": f", below {spec.get('high')}", "mask": ", 0 and 1"}.get(spec.get("fill", ""), "")
    return f"{spec['name']}: {spec['dtype']} ({shape}){how}"
