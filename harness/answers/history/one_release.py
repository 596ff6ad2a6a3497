"""One release, tried: a graph to a row. Whatever keeps a release from being tried is a row too."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

from msgspec.structs import replace

from clonediff.harness.answers.causes import causes_shown
from clonediff.harness.answers.history.question import HistoryQuestion
from clonediff.harness.answers.history.record import CLONED, ReleaseRow, ReleaseVerdict
from clonediff.harness.subjects.outcomes import ReleaseError, SubjectError
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.releases.commits import Commit
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.expected import LookResult, look_for
from clonediff.harness.trials.expressible import another_came_up, unsupported_graph
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import Trial
from clonediff.reports.known import KnownIssues, load
from clonediff.reports.markup import one_line

Find = Callable[[Subject], ReleasePlace]
"""Where the release of a subject is; raises `SubjectError` for one that cannot be had."""

_VERDICTS = {
    LookResult.SHOWS: ReleaseVerdict.BREAKS,
    LookResult.GONE: ReleaseVerdict.HOLDS,
    LookResult.ANOTHER: ReleaseVerdict.OTHERWISE,
    LookResult.NO_CLONE: ReleaseVerdict.OTHERWISE,
    LookResult.REFUSED: ReleaseVerdict.CANNOT_BUILD,
    LookResult.LOST: ReleaseVerdict.CANNOT_BUILD,
    LookResult.INEXPRESSIBLE: ReleaseVerdict.CANNOT_BUILD,
}
"""Of all others it cannot be told."""
_LONGEST = 300


def try_release(question: HistoryQuestion, subject: Subject, find: Find) -> ReleaseRow:
    """The row of one release."""
    began = time.monotonic()
    row = _row(question, subject, find, _known())
    return replace(row, seconds=time.monotonic() - began)


def try_commit(question: HistoryQuestion, commit: Commit, copied: Callable[[Commit], Subject]) -> ReleaseRow:
    """The row of one commit, of which a copy is made.

    Between two releases a commit has the number of one of them, and what is known of the other may be in it by then.
    """
    began = time.monotonic()
    try:
        subject = copied(commit)
    except ReleaseError as error:
        row = ReleaseRow("", "keras", "", ReleaseVerdict.NOT_TO_BE_HAD, reason=one_line(str(error), _LONGEST))
    else:
        row = _row(question, subject, functools.partial(place_of, see=False), _of_any_release())
    return replace(row, commit=commit, seconds=time.monotonic() - began)


def _row(question: HistoryQuestion, subject: Subject, find: Find, known: KnownIssues) -> ReleaseRow:
    row = ReleaseRow(str(subject), subject.package, subject.version or "", ReleaseVerdict.NOT_TO_BE_HAD)
    words = unsupported_graph(question.graph, subject)
    if words:  # for that nothing has to be installed
        return with_answer(row, question, Trial(not_tried=words, expressible=False))
    try:
        place = find(subject)
        process = SubjectProcess(subject, place=place)
        process.start()
    except SubjectError as error:
        return replace(row, reason=one_line(str(error), _LONGEST))
    with process:
        row = replace(row, how=place.how, versions=process.versions, reason=another_came_up(process))
        if row.reason:
            return row
        expected = question.expected
        trials = GraphTrials(process, known, cloners=(question.cloner,), private=expected.private)
        return with_answer(row, question, trials.try_or_say_why_not(question.graph, costly=expected.parts))


def with_answer(row: ReleaseRow, question: HistoryQuestion, tried: Trial) -> ReleaseRow:
    """The row with the verdict, the causes that showed there, and why where it is no cause.

    What a known issue explains is listed, and does not speak against a release that one cause is looked for in: an
    input that changes its name is in all of them. Where there is no clone at all, nobody can say what else would show.
    """
    looked = look_for(question.expected, tried)
    verdict = _VERDICTS.get(looked.result, ReleaseVerdict.CANNOT_TELL)
    reason = "" if verdict in CLONED else looked.because
    if looked.result is LookResult.LOST:
        reason = f"the original ends its process: {reason}"
    return replace(row, verdict=verdict, causes=causes_shown(tried), reason=one_line(reason, _LONGEST))


@functools.cache
def _known() -> KnownIssues:
    return load()


@functools.cache
def _of_any_release() -> KnownIssues:
    """What is known, whichever releases have it."""
    return KnownIssues(tuple(replace(issue, since=None, until=None) for issue in _known().issues))
