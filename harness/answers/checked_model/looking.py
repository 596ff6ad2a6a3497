"""One model on one subject: loaded, looked at, cloned, compared.

Owns the order of these steps, and what is said where one of them cannot be taken.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from clonediff.harness.answers.causes import cause_shown
from clonediff.harness.answers.checked_model import inputs, verdicts
from clonediff.harness.answers.checked_model.models import Model, functions, source_of
from clonediff.harness.answers.checked_model.record import CheckedModel, Cloned, Status
from clonediff.harness.inside.cloners.users import is_users
from clonediff.harness.scripts.reproducer import reproducer, with_versions
from clonediff.harness.source import DIALECTS
from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.observation import Failure
from clonediff.harness.subjects.outcomes import LostProcess, ModelDescribed, OutOfMemory, TimedOut
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.triage import with_blame
from clonediff.harness.trials.trial import Trial
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import UPSTREAM_AND_FIXED, Cause

BATCH = 2
SECONDS = 600.0
"""The limit of a model."""

_UNSAFE = re.compile(r"safe_mode|unsafe|Lambda.*deserializ|deserializ.*Lambda", re.IGNORECASE | re.DOTALL)
_UNKNOWN_CLASS = re.compile(
    r"Could not locate (class|function)|Unknown (layer|object|\w+ function)|Please ensure (this|that) object", re.I
)
_NO_FILE = re.compile(
    r"accessible `\.keras`|not an accessible|Unable to (synchronously )?open|not a zip|zip file", re.I
)
_TRUSTED = ("if you trust where it comes from, add --unsafe",)

Tell = Callable[[str], None]


def look(
    model: Model,
    process: SubjectProcess,
    known: KnownIssues,
    *,
    cloners: Sequence[str] = UPSTREAM_AND_FIXED,
    unsafe: bool = False,
    tell: Tell | None = None,
) -> CheckedModel:
    """Check one model; `tell` is told how far that has come."""
    began = time.monotonic()
    subject = process.subject
    told = CheckedModel(model.spec, str(subject), Status.CHECKED, versions=process.versions)
    for cloner in filter(is_users, cloners):
        problem = process.cloner_problem(cloner)
        if problem:
            return _not(told, Status.NOT_CHECKED, problem, (), began)
    source = source_of(model, subject, unsafe=unsafe)
    request = {"source": source, "unsafe": unsafe, "file": model.path if model.how == "file" else None}
    seen = process.describe_model(request, SECONDS)
    if not isinstance(seen, ModelDescribed):
        return _not(told, Status.LOST, f"it {_how(seen)} while it was loaded", (), began)
    told = replace(told, kind=seen.kind, layers=seen.layers, parameters=seen.parameters)
    stopped = _unfit(seen, model, process, unsafe=unsafe)
    if stopped is not None:
        return _not(told, *stopped, began)
    told = replace(told, inputs=tuple(inputs.described(seen)))
    promises = "" if DIALECTS[subject.generation].compiles else "not compiled"
    case = Case(source, seen.suited.inputs, batch=BATCH, promises=promises)

    if tell is not None:
        tell(f"{seen.layers} layers: cloning and comparing")
    trial = GraphTrials(process, known, cloners=cloners).try_case(case, costly=True, timeout=SECONDS)
    told = replace(told, peak=peak_memory(process.pid))
    stopped = _untried(trial, inputs.refused(seen))
    if stopped is not None:
        return _not(told, *stopped, began)
    clones = _cloned(trial, cloners, process)
    summary = verdicts.summary(clones, subject)
    return replace(told, clones=clones, summary=summary, seconds=time.monotonic() - began)


def _not(told: CheckedModel, status: Status, reason: str, advice: Sequence[str], began: float) -> CheckedModel:
    return replace(told, status=status, reason=reason, advice=tuple(advice), seconds=time.monotonic() - began)


_Stopped = tuple[Status, str, tuple[str, ...]]


def _unfit(seen: ModelDescribed, model: Model, process: SubjectProcess, *, unsafe: bool) -> _Stopped | None:
    """Why a model that was looked at cannot be tried, if it cannot."""
    if seen.code and not unsafe:
        holds = f"the file holds code, which would run when it is loaded: {', '.join(seen.code)}"
        return Status.NOT_LOADED, holds, _TRUSTED
    if seen.unread and not unsafe:
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
        return Status.LOST, trial.lost.said, ()
    observed = trial.original
    for made in (observed.inference, observed.training) if observed is not None else ():
        if made is not None and made.failure is not None:
            tried = f"sizes {sizes} were tried: " if sizes else ""
            advice = f"{tried}say in keras.Input what is open, in a function that makes the model"
            return Status.NOT_CALLED, _said(made.failure), (advice,)
    return None


def _said(failure: Failure) -> str:
    return f"{failure.type}: {failure.message}"


def _advice(seen: ModelDescribed, failure: Failure, model: Model, process: SubjectProcess) -> list[str]:
    message, saved_by = failure.message, seen.saved_by
    if _UNSAFE.search(message):
        return [*_TRUSTED]
    if _UNKNOWN_CLASS.search(message):
        return ["check FILE.py:FUNCTION instead, a function that imports its classes and loads the model"]
    if model.how == "file" and (_NO_FILE.search(message) or failure.type in ("BadZipFile", "OSError")):
        return ["the file is damaged, or is no saved model of this format: save it again with model.save(...)"]
    if model.how == "function" and failure.type == "AttributeError" and f"no attribute {model.name!r}" in message:
        there = ", ".join(functions(Path(model.path)))
        return [f"the functions of {Path(model.path).name} are {there}" if there else "the file has no function"]
    if saved_by and saved_by != process.ready.keras:
        return [f"it was saved by Keras {saved_by}, and this is {process.ready.keras}: name its own with --subject"]
    return []


def _how(lost: LostProcess) -> str:
    if isinstance(lost, TimedOut):
        return f"took more than {lost.seconds:g} s"
    if isinstance(lost, OutOfMemory):
        return f"took more than {lost.limit >> 20} MiB of memory"
    return f"ended its process ({lost.how})"


def _cloned(trial: Trial, cloners: Sequence[str], process: SubjectProcess) -> tuple[Cloned, ...]:
    """What each cloner made of the model; blame is that of all together."""
    hits = {name: [hit for hit in trial.hits if hit.cloner == name] for name in cloners}
    blamed = with_blame({name: [hit.cause for hit in its if hit.cause is not None] for name, its in hits.items()})
    found = []
    for name in cloners:
        breaks = tuple(
            cause_shown(cause, hit.known, script=_script(cause, name, hit.case, process))
            for hit, cause in zip(hits[name], blamed[name], strict=True)
        )
        found.append(Cloned(name, trial.clones[name].verdict.value, verdicts.outcome(breaks), breaks))
    return tuple(found)


def _script(cause: Cause, cloner: str, case: Case, process: SubjectProcess) -> str:
    plain = reproducer(case.source, process.subject.generation, cause.root, cloner, case)
    return with_versions(plain, process.versions).text


def peak_memory(pid: int | None) -> int:
    """The most memory that a process has held, 0 where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
