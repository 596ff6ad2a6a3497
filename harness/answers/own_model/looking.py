"""One model on one subject: loaded, looked at, cloned, compared.

Owns the order of these steps, and what is said where one of them cannot be taken.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from harness.answers.own_model import inputs
from harness.answers.own_model.limits import LIMITS
from harness.answers.own_model.models import Model, source_of, takes_safe_mode
from harness.answers.own_model.record import CheckedModel, Cloned, ModelBreak, Status
from harness.scripts.graph_mode import with_versions
from harness.scripts.reproducer import reproducer
from harness.subjects.case import COSTLY, Case
from harness.subjects.observation import Failure
from harness.subjects.outcomes import LostProcess, ModelDescribed, OutOfMemory, TimedOut
from harness.subjects.process import SubjectProcess
from harness.trials.graph_trials import ExplainedCause, GraphTrials, TriedCase
from harness.trials.triage import Verdict, title
from harness.trials.trial import Trial
from reports.known import KnownIssues
from reports.records import COSTS, UPSTREAM_AND_FIXED, Cause

_UNSAFE = re.compile(r"safe_mode|unsafe|Lambda.*deserializ|deserializ.*Lambda", re.IGNORECASE | re.DOTALL)
_UNKNOWN_CLASS = re.compile(
    r"Could not locate (class|function)|Unknown (layer|object|\w+ function)|Please ensure (this|that) object", re.I
)
_NO_FILE = re.compile(
    r"accessible `\.keras`|not an accessible|Unable to (synchronously )?open|not a zip|zip file", re.I
)
_NO_SAVED_MODEL = re.compile(r"SavedModel format is not supported|TFSMLayer|File format not supported", re.I)


_TRUSTED = ("if you trust where it comes from, add --unsafe",)


@dataclass(frozen=True, slots=True)
class CheckWanted:
    """How models are to be checked: `seconds` is the limit of each, `arrays` the file of inputs."""

    cloners: tuple[str, ...] = UPSTREAM_AND_FIXED
    checks: tuple[str, ...] = COSTLY
    custom: Path | None = None
    unsafe: bool = False
    arrays: Path | None = None
    size: int = inputs.SIZE
    batch: int | None = None
    seed: int = 0
    seconds: float = 600.0


def look(model: Model, process: SubjectProcess, wanted: CheckWanted, known: KnownIssues) -> CheckedModel:
    """Check one model."""
    began = time.monotonic()
    subject = process.subject
    told = CheckedModel(model.spec, str(subject), Status.CHECKED, versions=process.versions)
    source = source_of(model, subject, wanted.custom, unsafe=wanted.unsafe)
    request: dict[str, Any] = {"source": source, "seed": wanted.seed, "unsafe": wanted.unsafe}
    if model.how == "file":
        request["file"] = model.path
    if wanted.arrays is not None:
        request["arrays"] = str(wanted.arrays)
    seen = process.describe_model(request, wanted.seconds)
    if not isinstance(seen, ModelDescribed):
        raised = "--timeout" if isinstance(seen, TimedOut) else "--memory" if isinstance(seen, OutOfMemory) else ""
        advice = (f"raise {raised}",) if raised else ()
        return _not(told, Status.LOST, f"it {_how(seen)} while it was loaded", advice, began)
    told = replace(told, kind=seen.kind, layers=seen.layers, parameters=seen.parameters)
    stopped = _unfit(seen, model, process, wanted)
    if stopped is not None:
        return _not(told, *stopped, began)
    if wanted.arrays is None:
        specs = inputs.drawn(seen, size=wanted.size, batch=wanted.batch)
    else:
        specs = inputs.from_file(seen, wanted.arrays)
    told = replace(told, inputs=tuple(inputs.described(seen, specs)))
    case = Case(source, specs, batch=wanted.batch or inputs.BATCH, seed=wanted.seed)
    known = KnownIssues((*known.issues, *LIMITS.issues))
    tried = GraphTrials(process, known, cloners=wanted.cloners).try_case(case, wanted.checks, timeout=wanted.seconds)
    told = replace(told, peak=peak(process.pid))
    stopped = _untried(tried.trial)
    if stopped is not None:
        return _not(told, *stopped, began)
    clones = tuple(_cloned(name, tried, process) for name in wanted.cloners)
    return replace(told, clones=clones, seconds=time.monotonic() - began)


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
        return Status.NOT_LOADED, _said(seen.refused), tuple(_advice(seen.refused, model, process, seen.saved_by))
    if not seen.is_model:
        what = f"{seen.module}.{seen.kind}" if seen.module not in ("", "builtins") else seen.kind
        other = {"keras": "keras", "tf_keras": "tf_keras"}.get(seen.module.partition(".")[0])
        advice = f"add --subject {other}" if other and other != process.subject.package else ""
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


def _untried(trial: Trial) -> _Stopped | None:
    """Why a trial says nothing of any cloner, if it does not."""
    if trial.refused is not None:
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
            advice = ("try another --size for dimensions that are open, or bring --inputs FILE.npz",)
            return Status.NOT_CALLED, _said(made.failure), advice
    return None


def _said(failure: Failure) -> str:
    return f"{failure.type}: {failure.message}"


def _advice(failure: Failure, model: Model, process: SubjectProcess, saved_by: str) -> list[str]:
    message = failure.message
    if _UNSAFE.search(message) and takes_safe_mode(process.subject):
        return [*_TRUSTED]
    if _UNKNOWN_CLASS.search(message):
        return ["bring the file that defines it: --custom FILE.py"]
    if model.how == "file" and (_NO_FILE.search(message) or failure.type in ("BadZipFile", "OSError")):
        return ["the file is damaged, or is no saved model of this format: save it again with model.save(...)"]
    if _NO_SAVED_MODEL.search(message):
        return ["a SavedModel is loaded by tf_keras: --subject tf_keras --unsafe"]
    if model.how == "application":
        return ["`clonediff check --list` names those that this Keras has"]
    if saved_by and saved_by != process.ready.keras:
        return [f"it was saved by Keras {saved_by}, and this is {process.ready.keras}: name its own with --subject"]
    return []


def _how(lost: LostProcess) -> str:
    if isinstance(lost, TimedOut):
        return f"took more than {lost.seconds:g} s"
    if isinstance(lost, OutOfMemory):
        return f"took more than {lost.limit >> 20} MiB of memory"
    return f"ended its process ({lost.how})"


def _cloned(cloner: str, tried: TriedCase, process: SubjectProcess) -> Cloned:
    clone = tried.trial.clones[cloner]
    breaks = tuple(_break(each, tried.case, process) for each in tried.causes if each.cloner == cloner)
    return Cloned(cloner, clone.verdict.value, breaks, clone.notes)


def _break(shown: ExplainedCause, case: Case, process: SubjectProcess) -> ModelBreak:
    cause, issue = shown.cause, shown.known
    found = ModelBreak(
        cause.fingerprint,
        title(cause),
        COSTS[cause.rank],
        shown.blame.value,
        cause.root,
        cause.followers,
        script=_script(cause, shown.cloner, case, process),
    )
    if issue is None:
        return found
    return replace(found, known=issue.id, because=issue.because, link=issue.link, documented=issue.documented)


def _script(cause: Cause, cloner: str, case: Case, process: SubjectProcess) -> str:
    plain = reproducer(case.source, process.subject.dialect, cause.root, cloner, case)
    return with_versions(plain, process.versions).text


def peak(pid: int | None) -> int:
    """The most memory that a process has held, 0 where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def faithful(cloned: Cloned) -> bool:
    """Whether a cloner kept its promise, but for what its Keras documents that it does not."""
    return cloned.verdict == Verdict.FAITHFUL.value or bool(
        cloned.breaks and all(each.documented for each in cloned.breaks)
    )
