"""A finding, a graph or a known issue tried once more: is it fixed, still broken, changed?

STILL BROKEN: the cause shows, by its fingerprint; the script of a known issue fails as it should. FIXED: it does not,
and the cloner is faithful but for known issues; the script passes. CHANGED: it does not, but something else shows that
is not known; or it cannot show, because something known stands before it: there is no clone to look at, say; the script
fails otherwise. ERROR: it could not be tried. Of a bare graph nothing is expected: STILL BROKEN where the clone is not
faithful, known or not, else HOLDS.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace
from packaging.version import InvalidVersion, Version

from clonediff.harness.answers.causes import CauseShown, causes_shown
from clonediff.harness.answers.expected import Expected, ReplayOutcome, answer_to
from clonediff.harness.answers.replay_target import ReplayTarget
from clonediff.harness.scripts.alone import ReplayAnswer, ScriptRunner
from clonediff.harness.scripts.known_scripts import script_of_issue
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import Subject, UnknownSubjectError
from clonediff.harness.trials.graph_trials import UPSTREAM, GraphTrials
from clonediff.harness.trials.trial import Trial
from clonediff.reports.known import KnownIssue, KnownIssues
from clonediff.reports.records import UPSTREAM_AND_FIXED

_OF_SCRIPTS = {
    ReplayAnswer.BREAKS: ReplayOutcome.BROKEN,
    ReplayAnswer.GONE: ReplayOutcome.FIXED,
    ReplayAnswer.OTHER: ReplayOutcome.CHANGED,
    ReplayAnswer.UNKNOWN: ReplayOutcome.ERROR,
}


class ReplayRow(msgspec.Struct, frozen=True):
    """The answer for one target on one subject, why it is that one, and every cause that showed."""

    where: str
    title: str
    id: str
    subject: str
    cloner: str
    outcome: ReplayOutcome = ReplayOutcome.ERROR
    because: str = ""
    shown: tuple[CauseShown, ...] = ()
    versions: dict[str, str] = {}
    seconds: float = 0.0


def with_answer(row: ReplayRow, expected: Expected, tried: Trial) -> ReplayRow:
    """The row with what its one cloner did."""
    outcome, because = answer_to(expected, tried)
    return replace(row, outcome=outcome, because=because, shown=causes_shown(tried))


_FROM_BEST_TO_WORST = (
    ReplayOutcome.HOLDS,
    ReplayOutcome.FIXED,
    ReplayOutcome.ERROR,
    ReplayOutcome.CHANGED,
    ReplayOutcome.BROKEN,
)


def worst_last(rows: Iterable[ReplayRow]) -> list[list[ReplayRow]]:
    """The answers for each target, worst last, and the targets by their worst answer, worst last."""
    by_target: dict[str, list[ReplayRow]] = defaultdict(list)
    for row in rows:
        by_target[row.where].append(row)
    answers = [sorted(each, key=_how_bad) for each in by_target.values()]
    return sorted(answers, key=lambda each: _how_bad(each[-1]))


def _how_bad(row: ReplayRow) -> int:
    return _FROM_BEST_TO_WORST.index(row.outcome)


class Replays:
    """Targets, each on the subjects that are named, or else on its own; one process of a subject at a time."""

    def __init__(
        self,
        targets: Iterable[ReplayTarget],
        known: KnownIssues,
        *,
        subjects: Sequence[Subject] = (),
        cloner: str | None = None,
    ) -> None:
        self._known = known
        self._cloner = cloner
        self._unready: list[ReplayRow] = []
        self._by_subject: dict[Subject, list[ReplayTarget]] = {}
        for target in targets:
            for named in subjects or (None,):
                try:
                    subject = _subject(target, named)
                except (UnknownSubjectError, SubjectError) as error:
                    row = self._row(target, target.subject or str(named or ""))
                    self._unready.append(replace(row, because=str(error)))
                else:
                    self._by_subject.setdefault(subject, []).append(target)

    def __len__(self) -> int:
        return len(self._unready) + sum(map(len, self._by_subject.values()))

    def rows(self, say: Callable[[str], None] = lambda line: None) -> Generator[ReplayRow, None, None]:
        """The answers as they come, those that need no process first. `say` hears which subject is started."""
        yield from self._unready
        for subject, targets in self._by_subject.items():
            say(f"starting {subject}")
            yield from self._on(subject, targets)

    def _cloner_for(self, target: ReplayTarget) -> str:
        if target.expected.lost:
            return ""
        return self._cloner or target.cloner

    def _row(self, target: ReplayTarget, subject: str) -> ReplayRow:
        return ReplayRow(target.where, target.title, target.id, subject, self._cloner_for(target))

    def _on(self, subject: Subject, targets: Sequence[ReplayTarget]) -> Iterator[ReplayRow]:
        try:
            process = SubjectProcess(subject, place=place_of(subject))
            process.start()
        except SubjectError as error:
            for target in targets:
                yield replace(self._row(target, str(subject)), because=str(error))
            return
        with process, contextlib.ExitStack() as running:

            @functools.cache
            def scripts(fixed: bool) -> ScriptRunner:
                return running.enter_context(contextlib.closing(ScriptRunner(subject, process.place, fixed=fixed)))

            for target in targets:
                row = replace(self._row(target, str(subject)), versions=process.versions)
                began = time.monotonic()
                try:
                    row = self._answered(row, target, process, scripts)
                except SubjectError as error:
                    row = replace(row, because=str(error))
                yield replace(row, seconds=time.monotonic() - began)

    def _answered(
        self, row: ReplayRow, target: ReplayTarget, process: SubjectProcess, scripts: Callable[[bool], ScriptRunner]
    ) -> ReplayRow:
        another = _another_came_up(process)
        if another:
            return replace(row, because=another)
        if target.issue is not None:
            return _issue_answered(row, target.issue, process.subject, scripts)
        assert target.graph is not None
        cloners = (row.cloner,) if row.cloner else ()
        trials = GraphTrials(process, self._known, cloners=cloners)
        tried = trials.try_or_say_why_not(target.graph, costly=target.expected.costly or None)
        row = with_answer(row, target.expected, tried)
        if target.generation in ("", process.subject.generation) or row.outcome is ReplayOutcome.ERROR:
            return row
        found = f"it is of another generation, {target.generation}"
        return replace(row, because="; ".join(filter(None, (row.because, found))))


def _another_came_up(process: SubjectProcess) -> str:
    """What is to be said where another version runs than the one that was asked for; "" where it is that one."""
    wanted, ready = process.subject.version, process.ready
    try:
        same = wanted is None or Version(ready.keras) == Version(wanted)
    except InvalidVersion:
        same = False
    return "" if same else f"{process.subject} was asked for, and {process.subject.package} {ready.keras} came up"


def _issue_answered(
    row: ReplayRow, issue: KnownIssue, subject: Subject, scripts: Callable[[bool], ScriptRunner]
) -> ReplayRow:
    """The answer of the issue's script, with the row's cloner in the place of the release's `clone_model`."""
    if issue.generation != subject.generation:
        return replace(row, because=f"it is an issue of {issue.generation}, and {subject} is {subject.generation}")
    if row.cloner not in UPSTREAM_AND_FIXED:
        return replace(row, because="the script of a known issue runs with the cloners upstream and fixed only")
    answer, because = scripts(row.cloner != UPSTREAM).answer(script_of_issue(issue))
    return replace(row, outcome=_OF_SCRIPTS[answer], because=because)


def _subject(target: ReplayTarget, named: Subject | None) -> Subject:
    """What a target is tried on."""
    if target.problem:
        raise SubjectError(target.problem)
    if named is not None:
        return named
    if target.subject:
        return Subject.parse(target.subject)
    return Subject.parse(target.generation or "keras")
