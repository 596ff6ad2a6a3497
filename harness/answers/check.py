"""Check a user's model: clone it in this process, compare, and explain each cause."""

from __future__ import annotations

import platform
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import msgspec

from clonediff.harness.answers.advice import UserClasses, advice
from clonediff.harness.answers.in_process import ClonedModel, clone_live
from clonediff.harness.answers.sentences import consequences, headline, sentence
from clonediff.harness.answers.user_causes import user_causes
from clonediff.harness.answers.user_models import UserModel, load_user_model
from clonediff.harness.inside.subclassed import CLONE_LINES
from clonediff.harness.inside.values import describe_input
from clonediff.harness.observation import Case
from clonediff.harness.scripts.reproducer import add_versions, reproducer
from clonediff.harness.trials.triage import add_blame
from clonediff.reports.documents import template
from clonediff.reports.known import load
from clonediff.reports.markup import one_line
from clonediff.reports.records import UPSTREAM_AND_FIXED, Cause, RecordError, Severity, cloner_name
from clonediff.strategies.dialects import DIALECTS
from clonediff.strategies.program import Generation


class ExplainedCause(msgspec.Struct, frozen=True, kw_only=True):
    """A cause, explained to the user of the model.

    `headline` is its effect in a few words; `sentence` names layer and values. `known` is the id of the known issue, a
    `bug` of Keras or a limit; `explanation` has its title and reason.
    """

    cause: Cause
    headline: str
    sentence: str
    consequences: tuple[str, ...]
    known: str | None
    explanation: str
    link: str | None
    documented: bool
    bug: bool
    advice: str
    user_fault: bool
    script: str

    @property
    def is_rename(self) -> bool:
        """Whether only names differ."""
        return self.cause.severity is Severity.NAME

    @property
    def name_changes(self) -> list[str]:
        """Sentences with old and new names, if only names differ."""
        differences = self.cause.differences if self.is_rename else ()
        return [f"{item.expected} is {item.found}" for item in differences if item.part != "layer"]

    def is_ignored(self, ignored: Collection[str]) -> bool:
        """Whether `ignored` has the fingerprint, known issue or "documented"."""
        names = (self.cause.fingerprint, self.known, "documented" if self.documented else None)
        return any(name in ignored for name in names)


class CheckedModel(msgspec.Struct, frozen=True):
    """A model, its inputs, and the causes of each cloner.

    A `subclassed` model was wrapped in a functional model. `replaced` has the new classes of replaced layers, by name.
    """

    model: str
    kind: str
    versions: dict[str, str]
    inputs: tuple[str, ...]
    clones: dict[str, tuple[ExplainedCause, ...]]
    subclassed: bool
    replaced: dict[str, str]

    @property
    def causes(self) -> list[ExplainedCause]:
        """The causes of all cloners, upstream first."""
        return [cause for causes in self.clones.values() for cause in causes]

    def fails(self, ignored: Collection[str] = ()) -> bool:
        """Whether any cause is neither ignored nor a changed name."""
        return any(not cause.is_ignored(ignored) for cause in drop_renames(self.causes))


def drop_renames(causes: Iterable[ExplainedCause]) -> list[ExplainedCause]:
    return [cause for cause in causes if not cause.is_rename]


def check(spec: str, cloners: Sequence[str] = UPSTREAM_AND_FIXED, clone_function: str = "") -> CheckedModel:
    """Check a model that `spec`, an argument of the command line, names.

    Raises `RecordError` if the model cannot be checked.
    """
    try:
        user = load_user_model(spec, cloners, clone_function)
        cloned = clone_live(user.model, user.cloners)
    except (TypeError, ValueError, RuntimeError) as error:
        raise RecordError(one_line(f"{spec} cannot be checked: {error}")) from None
    explainer = _Explainer(user, cloned)
    clones = explainer.causes_by_cloner()
    if untried_cloners := [name for name in user.cloners if name not in clones]:  # a cloner changed the model
        clones |= check(spec, untried_cloners, clone_function).clones
    kind = user.subclass or type(user.model).__name__
    inputs = tuple(map(describe_input, cloned.inputs))
    return CheckedModel(spec, kind, explainer.versions, inputs, clones, bool(user.subclass), user.replaced or {})


class _Explainer:
    """Explains the causes of each cloner to a user."""

    def __init__(self, user: UserModel, cloned: ClonedModel) -> None:
        self._user, self._cloned, self._generation = user, cloned, cloned.generation
        keras = DIALECTS[self._generation].imports["keras"]
        source = user.source if keras in user.source else f"{keras}\n{user.source}"
        self._case = Case(source, cloned.inputs, batch=cloned.inputs[0]["batch"])
        versions = cloned.versions
        self._known = load().select(self._generation, versions["keras"])
        backend = {versions["backend"]: versions["backend_version"], "python": platform.python_version()}
        self.versions = {self._generation: versions["keras"], **backend}
        self._classes = _user_classes(user.model, self._generation)

    def causes_by_cloner(self) -> dict[str, tuple[ExplainedCause, ...]]:
        """The causes of each cloner, except causes in replaced layers."""
        cloned, replaced = self._cloned, self._user.replaced or ()
        groups = add_blame({name: user_causes(cloned.causes_of(name, replaced)) for name in cloned.clones})
        return {name: tuple(self._explain(cause, name) for cause in causes) for name, causes in groups.items()}

    def _explain(self, cause: Cause, cloner: str) -> ExplainedCause:
        failure = self._cloned.clones[cloner].failure
        known = self._known.find(cause) if cloner == "upstream" else None
        answer = advice(cause, failure.message if failure else "", self._classes)
        text = answer.text or (known.workaround if known else "")
        return ExplainedCause(
            cause=cause,
            headline=headline(cause),
            sentence=sentence(cause, failure),
            consequences=tuple(dict.fromkeys(consequences(cause, self._cloned.original))),
            known=known.id if known else None,
            explanation=". ".join(filter(None, (known.title, known.reason))) if known else "",
            link=known.link if known else None,
            documented=known is not None and known.documented,
            bug=bool(known and known.script),
            advice=text.replace("keras.saving", f"{self._generation}.saving"),
            # A bug of Keras is not the user's fault, even if they can avoid it.
            user_fault=answer.user_fault and (known is None or known.documented),
            script=self._script(cause, cloner),
        )

    def _script(self, cause: Cause, cloner: str) -> str:
        """The best script for a difference of the cause, or ""."""
        differences = cause.differences if self._user.replaced is None else ()  # a script has no clone function
        scripts = (reproducer(self._case, self._generation, difference, cloner) for difference in differences)
        failing = [script for script in scripts if script.raises]
        best = min(failing, key=lambda script: (not script.must_fail, "def config(model)" in script.text), default=None)
        text = add_versions(best, self.versions).text if best else ""
        return text.replace("clone = keras.models.clone_model(model)", CLONE_LINES) if self._user.subclass else text


def _user_classes(model: Any, generation: Generation) -> UserClasses:
    from clonediff.harness.inside.frameworks import framework
    from clonediff.harness.inside.layers import is_custom_class
    from clonediff.harness.inside.leaks import owned_objects

    types = {type(item) for item in owned_objects(model).values()}
    classes = {cls.__name__: cls for cls in types if hasattr(cls, "from_config") and is_custom_class(cls)}
    registered = framework(generation).keras.saving.get_custom_objects().values()
    return UserClasses(classes, frozenset(getattr(item, "__name__", "") for item in registered))


def answer_text(result: CheckedModel, ignored: Collection[str] = ()) -> str:
    keras = next(iter(result.versions))
    names = {"upstream": f"{keras}.models.clone_model", "fixed": "clonediff.clone_model"}
    issues = dict.fromkeys(cause.known for cause in drop_renames(result.causes) if not cause.is_ignored(ignored))
    return template("check.txt.j2", one_line).render(
        result=result,
        unfaithful=[name for name, causes in result.clones.items() if drop_renames(causes)],
        ignored=ignored,
        cloners={name: names.get(name) or cloner_name(name) for name in result.clones},
        versions=[f"{name} {version}" for name, version in result.versions.items()],
        replaced=[f"{name} ({kind})" for name, kind in result.replaced.items()],
        ignore_options=[] if None in issues else [f"--ignore {issue}" for issue in issues],
    )
