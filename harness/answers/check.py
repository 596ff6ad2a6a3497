"""A user's model: cloned by each cloner in this process, compared, with a script for each cause.

Where upstream makes no clone, what the configs of the model's objects lose is looked at as well.
"""

from __future__ import annotations

import platform
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from clonediff.harness.answers.causes import CauseShown, cause_shown
from clonediff.harness.answers.folding import colliding, counted
from clonediff.harness.answers.in_process import ClonedModel, clone_live
from clonediff.harness.answers.keras_here import keras_here
from clonediff.harness.answers.mending import Own, advice
from clonediff.harness.answers.own_models import ModelError, OwnModel, own_model
from clonediff.harness.answers.sentences import effects, sentence
from clonediff.harness.observation import Case
from clonediff.harness.scripts.reproducer import reproducer, with_versions
from clonediff.harness.trials.triage import makes_a_clone, with_blame
from clonediff.reports.known import KnownIssues, load
from clonediff.reports.records import UPSTREAM_AND_FIXED, Blame, Cause
from clonediff.strategies.dialects import DIALECTS
from clonediff.strategies.program import Generation

_REVIVED = "revived"


class Checked(msgspec.Struct, frozen=True):
    """A model, what it was fed, and what each cloner breaks; `alone` has what configs lose where upstream crashes.

    `asked` has the layers that a clone function makes otherwise, which is no difference.
    """

    model: str
    kind: str
    versions: dict[str, str]
    inputs: tuple[str, ...]
    todo: str
    clones: dict[str, tuple[CauseShown, ...]]
    alone: tuple[CauseShown, ...] = ()
    asked: dict[str, str] = {}

    @property
    def causes(self) -> tuple[CauseShown, ...]:
        """Everything that was found, upstream's first."""
        return (*(cause for causes in self.clones.values() for cause in causes), *self.alone)

    def fails(self, ignored: Collection[str] = ()) -> bool:
        """Whether a user would mind something that is not ignored."""
        return any(not cause.ignored_by(ignored) for cause in minded(self.causes))


def minded(causes: Collection[CauseShown]) -> list[CauseShown]:
    """What a user would mind: not that a name is another."""
    return [cause for cause in causes if not cause.name_only]


def check(spec: str, cloners: Sequence[str] = UPSTREAM_AND_FIXED, clone_function: str = "") -> Checked:
    """Check a model by its name on the command line, cloned as it is, or with a clone function."""
    try:
        own = own_model(spec, cloners, clone_function)
        cloned = clone_live(own.model, own.cloners)
    except ModelError:
        raise
    except (TypeError, ValueError, RuntimeError) as error:
        raise ModelError(f"{spec} cannot be checked: {error}") from None
    answers = _Answers(own, cloned)
    by_cloner = {name: answers.causes(name) for name in cloned.answer.clones}
    if not makes_a_clone(by_cloner.get("upstream", ())):
        by_cloner[_REVIVED] = _lost_by_configs(own.model, cloned)
    causes = with_blame(by_cloner)
    shown = {name: tuple(answers.shown(cause, name) for cause in of_it) for name, of_it in causes.items()}
    alone, asked = shown.pop(_REVIVED, ()), dict(own.asked)
    if rest := [name for name in own.cloners if name not in shown]:  # one before them has changed the model
        shown |= check(spec, rest, clone_function).clones
    return Checked(spec, own.kind, answers.versions, tuple(map(_fed, cloned.fed)), own.todo, shown, alone, asked)


class _Answers:
    """What is said of the causes of each cloner of a model."""

    def __init__(self, own: OwnModel, cloned: ClonedModel) -> None:
        self._own, self._cloned = own, cloned
        self._generation: Generation = cloned.generation
        keras = DIALECTS[self._generation].imports["keras"]
        source = own.source if keras in own.source else f"{keras}\n{own.source}"
        self._case = Case(source, cloned.fed, batch=cloned.fed[0]["batch"])
        release = cloned.versions
        self._known: KnownIssues = load().on(self._generation, release["keras"])
        backend = {release["backend"]: release["backend_version"]}
        self.versions = {self._generation: release["keras"], **backend, "python": platform.python_version()}
        self._classes = _own_classes(own.model, self._generation)

    def causes(self, cloner: str) -> list[Cause]:
        """The causes of a cloner, as a user counts them, without those of what was asked for."""
        return counted(self._cloned.causes_of(cloner, promised=False, but_for=self._own.asked))

    def shown(self, cause: Cause, cloner: str) -> CauseShown:
        """A cause with what is known of it, what to do, and a script."""
        failure = None if cloner == _REVIVED else self._cloned.answer.clones[cloner].failure
        mended = advice(cause, failure.message if failure else "", self._classes)
        more: dict[str, Any] = {"advice": mended.text, "own": mended.own} if mended else {}
        more["sentence"] = sentence(cause, failure)
        more["effects"] = tuple(effects(cause, self._cloned.original))
        if names := colliding(cause):
            more["sentence"] = f"the weights {' and '.join(names)} have one name in the clone"
            more["effects"] = ("the clone cannot be saved as HDF5: `name already exists`",)
            more["advice"] = "save the clone as a .keras file, or give each `add_weight` another name"
        known = self._known.of(cause) if cloner in ("upstream", _REVIVED) else None
        if cloner == _REVIVED:  # each fact is of upstream's making, and no script revives objects alone
            return cause_shown(replace(cause, blame=Blame.UPSTREAM), known, **more)
        return cause_shown(cause, known, script=self._script(cause, cloner), **more)

    def _script(self, cause: Cause, cloner: str) -> str:
        """The script that shows the cause by the surest of its differences; "" where none can."""
        if not self._own.clones:
            return ""
        scripts = [reproducer(self._case, self._generation, each, cloner) for each in cause.differences]
        shows = [script for script in scripts if script.raises]
        if not shows:
            return ""
        surest = min(shows, key=lambda script: (not script.sure, "def config(model)" in script.text))
        text = with_versions(surest, self.versions).text
        return text.replace("clone = keras.models.clone_model(model)", self._own.clones)


def _own_classes(model: Any, generation: Generation) -> Own:
    """The classes of the user's own of which a model has objects, and the names of what is registered."""
    from clonediff.harness.inside.layers import is_own_class
    from clonediff.harness.inside.leaks import owned

    keras = keras_here(generation).keras
    kinds = {type(thing) for thing in owned(model).values()}
    classes = {kind.__name__: kind for kind in kinds if hasattr(kind, "from_config") and is_own_class(kind)}
    registered = keras.saving.get_custom_objects().values()
    return Own(classes, frozenset(getattr(thing, "__name__", "") for thing in registered))


def _lost_by_configs(model: Any, cloned: ClonedModel) -> list[Cause]:
    """What each layer, loss, metric and optimizer loses where it is revived alone from its config."""
    from clonediff.harness.inside.revived import revived

    cloner = partial(revived, framework=keras_here(cloned.generation))
    again = clone_live(model, {_REVIVED: cloner}, costly=False)
    return [cause for cause in counted(again.causes_of(_REVIVED)) if cause.root.check != "made"]


def _fed(spec: Mapping[str, Any]) -> str:
    """How an input was drawn, for a person."""
    shape = ", ".join(map(str, (spec["batch"], *spec["shape"])))
    how = {"ids": f", whole numbers below {spec.get('high')}", "mask": ", 0 and 1"}.get(spec.get("fill", ""), "")
    return f"{spec['name']}: {spec['dtype']} ({shape}){how}"
