"""A user's model: cloned by each cloner in this process, compared, with a script for each cause."""

from __future__ import annotations

import platform
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import msgspec

from clonediff.harness.answers.folding import counted
from clonediff.harness.answers.in_process import ClonedModel, clone_live
from clonediff.harness.answers.mending import Own, advice
from clonediff.harness.answers.own_models import OwnModel, own_model
from clonediff.harness.answers.sentences import effects, happens, sentence
from clonediff.harness.inside.subclassed import CLONE
from clonediff.harness.inside.values import input_words
from clonediff.harness.observation import Case
from clonediff.harness.scripts.reproducer import reproducer, with_versions
from clonediff.harness.trials.triage import with_blame
from clonediff.reports.known import load
from clonediff.reports.markup import one_line
from clonediff.reports.records import UPSTREAM_AND_FIXED, Cause, RecordError, Severity
from clonediff.strategies.dialects import DIALECTS
from clonediff.strategies.program import Generation


class CauseShown(msgspec.Struct, frozen=True, kw_only=True):
    """A cause on one model: what it does to the clone, the cause in words of the model, what follows from it.

    `known` is the issue that explains it, a `bug` of Keras or a limit, `because` its title and reason, `link` where it
    is reported. `advice` says how to mend the model; `own` that the fault is that of the user's class or function.
    """

    cause: Cause
    happens: str
    sentence: str
    effects: tuple[str, ...]
    known: str | None
    because: str
    link: str | None
    documented: bool
    bug: bool
    advice: str
    own: bool
    script: str

    @property
    def name_only(self) -> bool:
        """Whether all that it costs is a name."""
        return self.cause.severity is Severity.NAME

    @property
    def renamed(self) -> list[str]:
        """Which name is which in the clone, where that is all."""
        differences = self.cause.differences if self.name_only else ()
        return [f"{one.expected} is {one.found}" for one in differences if one.part != "layer"]

    def ignored_by(self, ignored: Collection[str]) -> bool:
        """Whether it is ignored: by its fingerprint, by the known issue that explains it, or as what is documented."""
        names = (self.cause.fingerprint, self.known, "documented" if self.documented else None)
        return any(name in ignored for name in names)


class Checked(msgspec.Struct, frozen=True):
    """A model, what it was fed, and what each cloner breaks.

    `subclassed`: it was compared in a functional model around it. `asked` has the layers that a clone function makes
    otherwise, which is no difference.
    """

    model: str
    kind: str
    versions: dict[str, str]
    inputs: tuple[str, ...]
    clones: dict[str, tuple[CauseShown, ...]]
    subclassed: bool
    asked: dict[str, str]

    @property
    def causes(self) -> list[CauseShown]:
        """Everything that was found, upstream's first."""
        return [cause for causes in self.clones.values() for cause in causes]

    def fails(self, ignored: Collection[str] = ()) -> bool:
        """Whether a user would mind something that is not ignored."""
        return any(not cause.ignored_by(ignored) for cause in minded(self.causes))


def minded(causes: Iterable[CauseShown]) -> list[CauseShown]:
    """What a user would mind: not that a name is another."""
    return [cause for cause in causes if not cause.name_only]


def check(spec: str, cloners: Sequence[str] = UPSTREAM_AND_FIXED, clone_function: str = "") -> Checked:
    """Check a model by its name on the command line, cloned as it is, or with a clone function.

    A `RecordError` says why it cannot be checked, and what to do.
    """
    try:
        own = own_model(spec, cloners, clone_function)
        cloned = clone_live(own.model, own.cloners)
    except (TypeError, ValueError, RuntimeError) as error:
        raise RecordError(one_line(f"{spec} cannot be checked: {error}")) from None
    answers = _Answers(own, cloned)
    clones = answers.of_all()
    if rest := [name for name in own.cloners if name not in clones]:  # one before them has changed the model
        clones |= check(spec, rest, clone_function).clones
    kind, fed = own.subclassed or type(own.model).__name__, tuple(map(input_words, cloned.fed))
    return Checked(spec, kind, answers.versions, fed, clones, bool(own.subclassed), own.asked or {})


class _Answers:
    """What is said of the causes of each cloner of a model."""

    def __init__(self, own: OwnModel, cloned: ClonedModel) -> None:
        self._own, self._cloned, self._generation = own, cloned, cloned.generation
        keras = DIALECTS[self._generation].imports["keras"]
        source = own.source if keras in own.source else f"{keras}\n{own.source}"
        self._case = Case(source, cloned.fed, batch=cloned.fed[0]["batch"])
        release = cloned.versions
        self._known = load().on(self._generation, release["keras"])
        backend = {release["backend"]: release["backend_version"], "python": platform.python_version()}
        self.versions = {self._generation: release["keras"], **backend}
        self._classes = _own_classes(own.model, self._generation)

    def of_all(self) -> dict[str, tuple[CauseShown, ...]]:
        """The causes of each cloner, as a user counts them, without those of what was asked for."""
        cloned, asked = self._cloned, self._own.asked or ()
        causes = with_blame({name: counted(cloned.causes_of(name, but_for=asked)) for name in cloned.clones})
        return {name: tuple(self._shown(cause, name) for cause in of_it) for name, of_it in causes.items()}

    def _shown(self, cause: Cause, cloner: str) -> CauseShown:
        """A cause with what is known of it, what to do, and a script."""
        failure = self._cloned.clones[cloner].failure
        known = self._known.of(cause) if cloner == "upstream" else None
        mended = advice(cause, failure.message if failure else "", self._classes)
        return CauseShown(
            cause=cause,
            happens=happens(cause),
            sentence=sentence(cause, failure),
            effects=tuple(dict.fromkeys(effects(cause, self._cloned.original))),
            known=known.id if known else None,
            because=". ".join(filter(None, (known.title, known.because))) if known else "",
            link=known.link if known else None,
            documented=known is not None and known.documented,
            bug=bool(known and known.script),
            advice=(mended.text or (known.todo if known else "")).replace("@keras.", f"@{self._generation}."),
            # What is known to be a bug of Keras is none of the user's, though they can help themselves.
            own=mended.own and (known is None or known.documented),
            script=self._script(cause, cloner),
        )

    def _script(self, cause: Cause, cloner: str) -> str:
        """The script that shows the cause by the surest of its differences; "" where none can."""
        differences = cause.differences if self._own.asked is None else ()  # no script has the user's clone function
        scripts = (reproducer(self._case, self._generation, each, cloner) for each in differences)
        shows = [script for script in scripts if script.raises]
        surest = min(shows, key=lambda script: (not script.sure, "def config(model)" in script.text), default=None)
        text = with_versions(surest, self.versions).text if surest else ""
        return text.replace("clone = keras.models.clone_model(model)", CLONE) if self._own.subclassed else text


def _own_classes(model: Any, generation: Generation) -> Own:
    """The classes of the user's own of which a model has objects, and the names of what is registered."""
    from clonediff.harness.inside.frameworks import framework
    from clonediff.harness.inside.layers import is_own_class
    from clonediff.harness.inside.leaks import owned

    kinds = {type(thing) for thing in owned(model).values()}
    classes = {kind.__name__: kind for kind in kinds if hasattr(kind, "from_config") and is_own_class(kind)}
    registered = framework(generation).keras.saving.get_custom_objects().values()
    return Own(classes, frozenset(getattr(thing, "__name__", "") for thing in registered))
