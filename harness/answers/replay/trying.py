"""Items on subjects: which subject an item is tried on, its process, and the trial that answers it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from clonediff.harness.answers.pointed_at import PointedAt
from clonediff.harness.answers.replay.outcome import CauseShown, Replayed, ReplayOutcome, replayed
from clonediff.harness.answers.replay.script import in_release
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import INSTALLED, Subject, UnknownSubjectError
from clonediff.harness.trials.expressible import another_came_up
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues

Say = Callable[[str], None]


class ReplayRow(msgspec.Struct, frozen=True):
    """The answer for one item on one subject."""

    where: str
    title: str
    id: str
    subject: str
    cloner: str
    outcome: ReplayOutcome
    because: str = ""
    shown: tuple[CauseShown, ...] = ()
    across: tuple[str, ...] = ()
    versions: dict[str, str] = {}
    seconds: float = 0.0


class Replays:
    """Items, each on the subjects that are named, or else on its own; one process of a subject at a time."""

    def __init__(
        self,
        items: Iterable[PointedAt],
        known: KnownIssues,
        *,
        subjects: Sequence[Subject] = (),
        cloner: str | None = None,
    ) -> None:
        self._known = known
        self._cloner = cloner
        self._unready: list[ReplayRow] = []
        self._by_subject: dict[Subject, list[tuple[PointedAt, Subject | None]]] = {}
        for item in items:
            for subject in subjects or (None,):
                self._take(item, subject)

    def __len__(self) -> int:
        return len(self._unready) + sum(map(len, self._by_subject.values()))

    def rows(self, say: Say = lambda line: None) -> Generator[ReplayRow, None, None]:
        """The answers as they come, those that need no process first. `say` hears which subject is started."""
        yield from self._unready
        for subject, items in self._by_subject.items():
            yield from self._on(subject, items, say)

    def _take(self, item: PointedAt, named: Subject | None) -> None:
        try:
            subject, other = _subjects(item, named)
        except (UnknownSubjectError, SubjectError) as error:
            self._unready.append(_row(item, item.subject or str(named or ""), self._who(item), _error(str(error))))
            return
        self._by_subject.setdefault(subject, []).append((item, other))

    def _who(self, item: PointedAt) -> str:
        return "" if item.across or item.expected.lost else self._cloner or item.cloner

    def _on(self, subject: Subject, items: Sequence[tuple[PointedAt, Subject | None]], say: Say) -> Iterator[ReplayRow]:
        with contextlib.ExitStack() as running:
            try:
                say(f"starting {subject}")
                process = running.enter_context(SubjectProcess(subject, place=place_of(subject)))
            except SubjectError as error:
                for item, _ in items:
                    yield _row(item, str(subject), self._who(item), _error(str(error)))
                return
            another, versions = another_came_up(process), process.versions
            others: dict[Subject, SubjectProcess] = {}
            for item, other in items:
                began = time.monotonic()
                answer = _error(another) if another else self._tried(item, process, others, other, running)
                if item.generation not in ("", subject.generation) and answer.outcome is not ReplayOutcome.ERROR:
                    found = f"it is of another generation, {item.generation}"
                    answer = replace(answer, because="; ".join(filter(None, (answer.because, found))))
                row = _row(item, str(subject), self._who(item), answer)
                across = (str(subject), str(other)) if other is not None else ()
                yield replace(row, across=across, versions=versions, seconds=time.monotonic() - began)

    def _tried(
        self,
        item: PointedAt,
        process: SubjectProcess,
        others: dict[Subject, SubjectProcess],
        other: Subject | None,
        running: contextlib.ExitStack,
    ) -> Replayed:
        assert item.graph is not None
        if other is not None and other not in others:
            try:
                others[other] = running.enter_context(SubjectProcess(other, place=place_of(other)))
            except SubjectError as error:
                return _error(str(error))
        who = self._who(item)
        trials = GraphTrials(
            process, self._known, () if other is None else (others[other],), cloners=(who,) if who else ()
        )
        return replayed(item.expected, trials.try_or_say_why_not(item.graph, costly=item.expected.costly or None))


def _subjects(item: PointedAt, named: Subject | None) -> tuple[Subject, Subject | None]:
    """What an item is tried on; where it is of two that differ, both, with --subject in the release that it names."""
    if item.problem:
        raise SubjectError(item.problem)
    if item.across:
        both = map(Subject.parse, item.across)
        first, second = both if named is None else (Subject.parse(str(in_release(each, named))) for each in both)
        return first, second
    if named is not None:
        return named, None
    if item.subject:
        return Subject.parse(item.subject), None
    generation = item.generation or "keras"
    package = INSTALLED.get(generation)
    if package is None:
        raise SubjectError(
            f"of {generation}, for which nothing is installed here: name a release, such as --subject keras==2.2.4"
        )
    return Subject.parse(package), None


def _error(message: str) -> Replayed:
    return Replayed(ReplayOutcome.ERROR, message)


def _row(item: PointedAt, subject: str, cloner: str, answer: Replayed) -> ReplayRow:
    return ReplayRow(
        item.where, item.title, item.id, subject, cloner, answer.outcome, answer.because, answer.shown, item.across
    )
