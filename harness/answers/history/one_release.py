"""One release, tried: a graph to a row. Whatever keeps a release from being tried is a row too.

Must not import Keras.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from harness.answers.history.question import Question
from harness.answers.history.record import CauseSeen, ReleaseRow, ReleaseVerdict
from harness.answers.replay.outcome import hidden, unseen
from harness.subjects.outcomes import SubjectError
from harness.subjects.place import ReleasePlace
from harness.subjects.process import Limits, SubjectProcess
from harness.subjects.subject import Subject
from harness.trials.cases import case_of
from harness.trials.expressible import came_up, unspoken
from harness.trials.triage import Verdict, likeness, title
from harness.trials.trial import CloneTrial, Trial, run
from reports.known import KnownIssues, load

Find = Callable[[Subject], ReleasePlace]
"""Where the release of a subject is; raises `SubjectError` for one that cannot be had."""

_NO_CLONE = (Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.KILLED)


def try_release(question: Question, subject: Subject, find: Find, limits: Limits | None = None) -> ReleaseRow:
    """The row of one release."""
    began = time.monotonic()
    row = _tried(question, subject, find, limits)
    return replace(row, seconds=time.monotonic() - began)


def _tried(question: Question, subject: Subject, find: Find, limits: Limits | None) -> ReleaseRow:
    row = ReleaseRow(str(subject), subject.package, subject.version or "", ReleaseVerdict.NOT_TO_BE_HAD)
    words = unspoken(question.graph, subject)
    if words:
        return replace(row, verdict=ReleaseVerdict.CANNOT_BUILD, reason=words)
    try:
        place = find(subject)
        process = SubjectProcess(subject, place=place, limits=limits)
        process.start()
    except SubjectError as error:
        return replace(row, reason=_line(str(error)))
    with process:
        row = replace(row, how=place.how, versions=process.versions)
        came = came_up(process)
        if came is not None:
            return replace(row, reason=f"{subject} was asked for, and {came} came up")
        try:
            case = case_of(question.graph, subject.dialect)
            trial = run(case, process, (question.cloner,), question.checks)
        except SubjectError as error:
            return replace(row, verdict=ReleaseVerdict.CANNOT_TELL, reason=_line(str(error)))
        known = _known().on(subject.generation, process.ready.keras, question.cloner)
        verdict, causes, reason = judged(question, trial, known)
        return replace(row, verdict=verdict, causes=causes, reason=reason)


def judged(question: Question, trial: Trial, known: KnownIssues) -> tuple[ReleaseVerdict, tuple[CauseSeen, ...], str]:
    """The verdict of a release on a question, the causes that showed there, and why where it is no cause.

    What a known issue explains is told, and does not speak against a release that one cause is looked for in: an input
    that changes its name is in all of them. Where there is no clone at all, nobody can say what else would show; nor
    where the original has nothing to compare, or something known stands before what is looked for.
    """
    if trial.refused is not None:
        return ReleaseVerdict.CANNOT_BUILD, (), _line(f"{trial.refused.type}: {trial.refused.message}")
    if trial.lost is not None:
        return ReleaseVerdict.CANNOT_BUILD, (), _line(f"the original ends its process: {trial.lost.found}")
    expected, clone = question.expected, trial.clones[question.cloner]
    causes = tuple(_seen(clone, known))
    if not expected.sought:
        return ReleaseVerdict.BREAKS if causes else ReleaseVerdict.HOLDS, causes, ""
    if any(map(expected.is_it, clone.causes)):
        return ReleaseVerdict.BREAKS, causes, ""
    nothing = unseen(expected, trial.original)
    if nothing:
        return ReleaseVerdict.CANNOT_TELL, causes, _line(nothing)
    if any(cause.hides or cause.known is None for cause in causes):
        return ReleaseVerdict.OTHERWISE, causes, ""
    behind = hidden(expected, trial, clone.causes)
    return (ReleaseVerdict.CANNOT_TELL, causes, _line(behind)) if behind else (ReleaseVerdict.HOLDS, causes, "")


def _seen(clone: CloneTrial, known: KnownIssues) -> Iterator[CauseSeen]:
    hides = clone.verdict in _NO_CLONE
    for cause in clone.causes:
        issue = known.of(cause)
        key = " ".join(word for word in likeness(cause.root) if word)
        yield CauseSeen(key, title(cause), cause.fingerprint, hides, issue.id if issue else None)


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:297] + "..."


@functools.cache
def _known() -> KnownIssues:
    return load()
