"""One model on one subject: loaded, looked at, cloned, compared.

Owns the order of these steps, and what is said where one of them cannot be taken.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from clonediff.harness.answers.causes import cause_shown
from clonediff.harness.answers.checked_model import inputs, verdicts
from clonediff.harness.answers.checked_model.applications import MILLIONS
from clonediff.harness.answers.checked_model.compared import compared
from clonediff.harness.answers.checked_model.inputs import InputsError
from clonediff.harness.answers.checked_model.models import Model, functions, source_of, takes_safe_mode
from clonediff.harness.answers.checked_model.processes import LONG, Second, Tell, second_process_pays, try_cloners
from clonediff.harness.answers.checked_model.record import CheckedModel, Cloned, Status
from clonediff.harness.answers.checked_model.undrawable_issues import UNDRAWABLE
from clonediff.harness.answers.checked_model.user_arguments import LIKE_THE_MODEL, OF_ONE_S_OWN, UserArguments
from clonediff.harness.inside.callback_log import ARRIVED
from clonediff.harness.inside.cloners.users import is_users
from clonediff.harness.scripts.reproducer import reproducer, with_versions
from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.observation import Failure
from clonediff.harness.subjects.outcomes import LostProcess, ModelDescribed, OutOfMemory, SubjectError, TimedOut
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.triage import makes_a_clone, with_blame
from clonediff.harness.trials.trial import Trial
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import UPSTREAM_AND_FIXED, Cause

_UNSAFE = re.compile(r"safe_mode|unsafe|Lambda.*deserializ|deserializ.*Lambda", re.IGNORECASE | re.DOTALL)
_UNKNOWN_CLASS = re.compile(
    r"Could not locate (class|function)|Unknown (layer|object|\w+ function)|Please ensure (this|that) object", re.I
)
_NO_FILE = re.compile(
    r"accessible `\.keras`|not an accessible|Unable to (synchronously )?open|not a zip|zip file", re.I
)
_NO_SAVED_MODEL = re.compile(r"SavedModel format is not supported|TFSMLayer|File format not supported", re.I)


_LARGE = 50.0
"""Millions of parameters from which on a model is built in a second process only once its memory is known."""

_TRUSTED = ("if you trust where it comes from, add --unsafe",)


@dataclass(frozen=True, slots=True)
class CheckWanted:
    """How models are to be checked: `seconds` is the limit of each, `arrays` the file of inputs.

    `size` is that of whatever the inputs leave open, `sizes` those of inputs by name; what neither says is tried,
    `first` before others. A model that takes long has `processes` at once. `clone_arguments` is what
    `clone_model` is given beside it. With `strict`, a clone does not hold where only a name differs; with `private`,
    private attributes are compared, too.
    """

    cloners: tuple[str, ...] = UPSTREAM_AND_FIXED
    costly: bool = True
    custom: Path | None = None
    unsafe: bool = False
    arrays: Path | None = None
    size: int | None = None
    sizes: tuple[tuple[str, int], ...] = ()
    first: int | None = None
    batch: int | None = None
    seed: int = 0
    seconds: float = 600.0
    processes: int = 2
    clone_arguments: UserArguments | None = None
    strict: bool = False
    private: bool = False


def second_for(model: Model, process: SubjectProcess, wanted: CheckWanted) -> Second:
    """A second process for `look`; where the model takes long by its name, it starts when the first one does."""
    second = Second(process)
    if model.how == "application" and wanted.processes > 1 and second_process_pays(process, wanted.cloners, LONG):
        # All of them take long. Two of the largest may be more than there is room for, so that waits for the first one.
        small = MILLIONS.get(model.name, _LARGE) < _LARGE
        request = dict(_request(model, process.subject, wanted), described=False, arrays=None) if small else None
        second.start(request, wanted.seconds)
    return second


def look(
    model: Model,
    process: SubjectProcess,
    wanted: CheckWanted,
    known: KnownIssues,
    tell: Tell | None = None,
    second: Second | None = None,
) -> CheckedModel:
    """Check one model; `tell` is told how far that has come. Whoever brings a `second` process ends it."""
    if second is not None:
        return _look(model, process, second, wanted, known, tell)
    with second_for(model, process, wanted) as ours:
        return _look(model, process, ours, wanted, known, tell)


def not_looked_at(
    spec: str, subject: str, error: InputsError | SubjectError, versions: Mapping[str, str], began: float
) -> CheckedModel:
    """What is said of a model where an error ended its check. `versions` are those of the process, once it runs."""
    status = Status.NOT_CALLED if isinstance(error, InputsError) else Status.LOST if versions else Status.NO_SUBJECT
    seconds = time.monotonic() - began
    return CheckedModel(spec, subject, status, dict(versions), reason=str(error), seconds=seconds)


def _request(model: Model, subject: Subject, wanted: CheckWanted) -> dict[str, Any]:
    """What a process is asked of a model."""
    source = source_of(model, subject, wanted.custom, unsafe=wanted.unsafe)
    request: dict[str, Any] = {"source": source, "seed": wanted.seed, "unsafe": wanted.unsafe, "keep": True}
    request.update(cloners=wanted.cloners, costly=wanted.costly)
    if model.how == "file":
        request["file"] = model.path
    if model.how == "application":
        request["application"] = model.name
    if wanted.arrays is not None:
        request["arrays"] = str(wanted.arrays)
    else:
        chosen = {"size": wanted.size, "sizes": dict(wanted.sizes), "first": wanted.first, "batch": wanted.batch}
        request["suit"] = chosen
    return request


def _look(
    model: Model,
    process: SubjectProcess,
    second: Second,
    wanted: CheckWanted,
    known: KnownIssues,
    tell: Tell | None,
) -> CheckedModel:
    began = time.monotonic()
    subject = process.subject
    told = CheckedModel(model.spec, str(subject), Status.CHECKED, versions=process.versions)
    for cloner in filter(is_users, wanted.cloners):
        problem = process.cloner_problem(cloner)
        if problem:
            return _not(told, Status.NOT_CHECKED, problem, (), began)
    request = _request(model, subject, wanted)
    source = str(request["source"])
    seen = process.describe_model(request, wanted.seconds)
    if not isinstance(seen, ModelDescribed):
        raised = "--timeout" if isinstance(seen, TimedOut) else "--memory" if isinstance(seen, OutOfMemory) else ""
        advice = (f"raise {raised}",) if raised else ()
        return _not(told, Status.LOST, f"it {_how(seen)} while it was loaded", advice, began)
    told = replace(told, kind=seen.kind, layers=seen.layers, parameters=seen.parameters)
    stopped = _unfit(seen, model, process, wanted)
    if stopped is not None:
        return _not(told, *stopped, began)
    inputs.check_sizes(seen, dict(wanted.sizes))
    specs = seen.suited.inputs if wanted.arrays is None else inputs.from_file(seen, wanted.arrays)
    told = replace(told, inputs=tuple(inputs.described(seen, specs)), clone_arguments=_said_of(wanted.clone_arguments))
    case = Case(source, specs, batch=wanted.batch or inputs.BATCH, seed=wanted.seed, private=wanted.private)
    clone_arguments = wanted.clone_arguments
    if clone_arguments is not None:
        case = _with_arguments(case, clone_arguments, subject)
    known = KnownIssues((*known.issues, *UNDRAWABLE.issues))

    def about(at: str) -> None:
        if tell is not None:
            tell(f"{seen.layers} layers, {at}")

    costly = wanted.costly and not case.user_arguments

    def tried_by(*cloners: str) -> list[Trial]:
        limits = {"timeout": wanted.seconds, "seconds": seen.seconds}
        beside = second if wanted.processes > 1 else None
        return try_cloners(case, process, beside, cloners, known, costly, **limits, tell=about)

    tried = tried_by(*wanted.cloners)
    stopped = _untried(tried[0], inputs.refused(seen))
    if stopped is not None:
        return _not(replace(told, peak=peak_memory(process.pid)), *stopped, began)
    clones = _cloned(tried, wanted.cloners, process)
    while clone_arguments is None and (remedy := verdicts.to_try(clones, strict=wanted.strict)):
        tried += tried_by(remedy)
        clones = _cloned(tried, (*(each.cloner for each in clones), remedy), process)
    asked, others = clones[: len(wanted.cloners)], clones[len(wanted.cloners) :]
    looked_at, left_out = compared(tried[0].original, clones, case, costly)
    told = replace(told, clones=asked, remedies=others, compared=looked_at, not_compared=left_out)
    return replace(
        told,
        summary=verdicts.summary(asked, others, subject, strict=wanted.strict, in_part=told.in_part),
        peak=peak_memory(process.pid) + peak_memory(second.pid),
        seconds=time.monotonic() - began,
    )


def _said_of(clone_arguments: UserArguments | None) -> tuple[str, ...]:
    """What was asked for with it, and what can be said of what comes."""
    if clone_arguments is None:
        return ()
    return " ".join(clone_arguments.words), LIKE_THE_MODEL if clone_arguments.like_the_model else OF_ONE_S_OWN


def _with_arguments(case: Case, clone_arguments: UserArguments, subject: Subject) -> Case:
    lines = clone_arguments.lines()
    source = "\n".join((*lines, *([""] if lines else []), case.source))
    theirs = not clone_arguments.like_the_model
    promises = "from_config" if clone_arguments.by_config else ""
    # What they give may be layers of the model itself, which are then called again.
    case = replace(case, keeps="layers" if theirs else "")
    arguments = clone_arguments.on(subject)
    return replace(
        case, source=source, arguments=arguments, user_arguments=theirs, functions_raise=theirs, promises=promises
    )


def _not(told: CheckedModel, status: Status, reason: str, advice: Sequence[str], began: float) -> CheckedModel:
    return replace(told, status=status, reason=reason, advice=tuple(advice), seconds=time.monotonic() - began)


_Stopped = tuple[Status, str, tuple[str, ...]]


def _unfit(seen: ModelDescribed, model: Model, process: SubjectProcess, wanted: CheckWanted) -> _Stopped | None:
    """Why a model that was looked at cannot be tried, if it cannot."""
    if seen.code and not wanted.unsafe:
        holds = f"the file holds code, which would run when it is loaded: {', '.join(seen.code)}"
        return Status.NOT_LOADED, holds, _TRUSTED
    if seen.unread and not wanted.unsafe:
        reason = (
            f"whether the file holds code cannot be told, its description of the model cannot be read: {seen.unread}"
        )
        return Status.NOT_LOADED, reason, ("it may be damaged: save it again with model.save(...)", *_TRUSTED)
    if seen.refused is not None:
        return Status.NOT_LOADED, _said(seen.refused), tuple(_advice(seen, seen.refused, model, process))
    if not seen.is_model:
        what = f"{seen.module}.{seen.kind}" if seen.module not in ("", "builtins") else seen.kind
        other = {"keras": "keras", "tf_keras": "tf_keras"}.get(seen.module.partition(".")[0])
        advice = f"add --subject {other}" if other and other != process.subject.package else ""
        if seen.kind == "NoneType" and model.how == "function":
            advice = f"let {model.name} return the model"
        reason = f"it is no model of {process.subject}, but of the type {what}"
        return Status.NOT_CHECKED, reason, (advice,) if advice else ()
    if not seen.is_graph:
        return (
            Status.NOT_CHECKED,
            f"{seen.kind} is a subclassed model: Keras knows no graph of its layers, so there is none to compare, "
            "and clone_model makes another of its class from its config",
            ("check the Functional and Sequential models that it is made of",),
        )
    if not seen.inputs:
        reason = f"this {seen.kind} has no inputs yet: it has not been built"
        return Status.NOT_CHECKED, reason, ("give it a keras.Input first, or build it before it is saved",)
    return None


def _untried(trial: Trial, sizes: str) -> _Stopped | None:
    """Why a trial says nothing of any cloner, if it does not."""
    if trial.refused is not None:
        if trial.refused.unsteady:
            advice = "look for random numbers without a seed, or for code of its own that counts its calls"
            return Status.NOT_CHECKED, trial.refused.message, (advice,)
        return Status.NOT_LOADED, _said(trial.refused), ()
    if trial.lost is not None:
        return (
            Status.LOST,
            trial.lost.said,
            ("raise --timeout or --memory, or ask for less: --no-costly, a smaller --size",),
        )
    observed = trial.original
    for made in (observed.inference, observed.training) if observed is not None else ():
        if made is not None and made.failure is not None:
            advice = "try another --size N or NAME=N for what is open, or bring --inputs FILE.npz"
            return (
                Status.NOT_CALLED,
                _said(made.failure),
                (f"{f'sizes {sizes} were tried: ' if sizes else ''}{advice}",),
            )
    return None


def _said(failure: Failure) -> str:
    return f"{failure.type}: {failure.message}"


def _advice(seen: ModelDescribed, failure: Failure, model: Model, process: SubjectProcess) -> list[str]:
    message, saved_by, takes = failure.message, seen.saved_by, seen.takes
    if _UNSAFE.search(message) and takes_safe_mode(process.subject):
        return [*_TRUSTED]
    if _UNKNOWN_CLASS.search(message):
        return ["bring the file that defines it: --custom FILE.py"]
    if model.how == "file" and (_NO_FILE.search(message) or failure.type in ("BadZipFile", "OSError")):
        return ["the file is damaged, or is no saved model of this format: save it again with model.save(...)"]
    if _NO_SAVED_MODEL.search(message):
        return ["a SavedModel is loaded by tf_keras: --subject tf_keras --unsafe"]
    if model.how == "function" and failure.type == "AttributeError" and f"no attribute {model.name!r}" in message:
        there = ", ".join(functions(Path(model.path)))
        return [f"the functions of {Path(model.path).name} are {there}" if there else "the file has no function"]
    if model.how == "application":
        there = "`clonediff check --list` names those that this Keras has"
        return [f"{model.name} takes {', '.join(takes)}" if takes else there]
    if saved_by and saved_by != process.ready.keras:
        return [f"it was saved by Keras {saved_by}, and this is {process.ready.keras}: name its own with --subject"]
    return []


def _how(lost: LostProcess) -> str:
    if isinstance(lost, TimedOut):
        return f"took more than {lost.seconds:g} s"
    if isinstance(lost, OutOfMemory):
        return f"took more than {lost.limit >> 20} MiB of memory"
    return f"ended its process ({lost.how})"


def _cloned(tried: Sequence[Trial], order: Sequence[str], process: SubjectProcess) -> tuple[Cloned, ...]:
    """What each cloner made of the model; blame is that of all together."""
    clones = {name: clone for each in tried for name, clone in each.clones.items()}
    hits = {name: [hit for each in tried for hit in each.hits if hit.cloner == name] for name in clones}
    blamed = with_blame({name: [hit.cause for hit in its if hit.cause is not None] for name, its in hits.items()})
    found = []
    for name in order:
        hides = not makes_a_clone(blamed[name])
        breaks = tuple(
            cause_shown(cause, hit.known, script=_script(cause, name, hit.case, process), hides=hides)
            for hit, cause in zip(hits[name], blamed[name], strict=True)
        )
        notes = clones[name].notes
        outcome = verdicts.RAISED if _arrived(notes) else verdicts.outcome(breaks)
        found.append(Cloned(name, clones[name].verdict.value, outcome, breaks, notes))
    return tuple(found)


def _arrived(notes: Sequence[str]) -> bool:
    """Whether there is no clone since a function raised that was given."""
    return any(note.startswith(ARRIVED.partition("%")[0]) for note in notes)


def _script(cause: Cause, cloner: str, case: Case, process: SubjectProcess) -> str:
    plain = reproducer(case.source, process.subject.dialect, cause.root, cloner, case)
    return with_versions(plain, process.versions).text


def peak_memory(pid: int | None) -> int:
    """The most memory that a process has held, 0 where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
