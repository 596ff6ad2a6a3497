"""Items on subjects: which subject an item is tried on, its process, and the trial that answers it.

Must not import Keras.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from harness.answers.replay.outcome import CauseShown, Expected, Replayed, ReplayOutcome, replayed, shows
from harness.answers.replay.reading import INSTALLED, Item
from harness.subjects.case import Case
from harness.subjects.outcomes import SubjectError
from harness.subjects.process import SubjectProcess
from harness.subjects.releases import place_of
from harness.subjects.subject import Subject, UnknownSubjectError
from harness.trials.across import TrialsAcross
from harness.trials.devices import terms_of
from harness.trials.expressible import came_up, unspoken
from harness.trials.graph_trials import GraphTrials, Hit
from harness.trials.trial import Trial
from reports.known import KnownIssue, KnownIssues, explains
from strategies.graph import Graph, MalformedGraph
from strategies.typing import read_example

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
        self, items: Iterable[Item], known: KnownIssues, *, subjects: Sequence[Subject] = (), cloner: str | None = None
    ) -> None:
        self._known = known
        self._cloner = cloner
        self._unready: list[ReplayRow] = []
        self._by_subject: dict[Subject, list[tuple[Item, Subject | None]]] = {}
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

    def _take(self, item: Item, named: Subject | None) -> None:
        try:
            subject, other = _subjects(item, named)
        except (UnknownSubjectError, SubjectError) as error:
            self._unready.append(_row(item, item.subject or str(named or ""), self._who(item), _error(str(error))))
            return
        self._by_subject.setdefault(subject, []).append((item, other))

    def _who(self, item: Item) -> str:
        return "" if item.across or item.expected.refused else self._cloner or item.cloner

    def _on(self, subject: Subject, items: Sequence[tuple[Item, Subject | None]], say: Say) -> Iterator[ReplayRow]:
        with contextlib.ExitStack() as running:
            try:
                say(f"starting {subject}")
                process = running.enter_context(SubjectProcess(subject, place=place_of(subject)))
            except SubjectError as error:
                for item, _ in items:
                    yield _row(item, str(subject), self._who(item), _error(str(error)))
                return
            came, versions = came_up(process), process.versions
            others: dict[Subject, SubjectProcess] = {}
            for item, other in items:
                began = time.monotonic()
                if came is not None:
                    answer = _error(f"{subject} was asked for, and {came} came up")
                else:
                    answer = self._tried(item, process, others, other, running)
                if item.generation not in ("", subject.generation) and answer.outcome is not ReplayOutcome.ERROR:
                    found = f"it is of another generation, {item.generation}"
                    answer = replace(answer, because="; ".join(filter(None, (answer.because, found))))
                row = _row(item, str(subject), self._who(item), answer)
                across = (str(subject), str(other)) if other is not None else ()
                yield replace(row, across=across, versions=versions, seconds=time.monotonic() - began)

    def _tried(
        self,
        item: Item,
        process: SubjectProcess,
        others: dict[Subject, SubjectProcess],
        other: Subject | None,
        running: contextlib.ExitStack,
    ) -> Replayed:
        assert item.graph is not None
        words = unspoken(item.graph, process.subject)
        if words:
            return _error(words)
        who = self._who(item)
        try:
            reason = _unable(who, process)
            if reason:
                return _error(reason)
            if other is not None and other not in others:
                others[other] = running.enter_context(SubjectProcess(other, place=place_of(other)))
            beside = [others[other]] if other is not None else []
            trials = _Heard(process, self._known, beside, cloners=(who,) if who else ())
            hits = trials.try_graph(item.graph, costly=item.expected.costly or None)
        except SubjectError as error:
            return _error(str(error))
        if trials.trial is None:
            raise AssertionError("a graph that was looked at has a trial")
        for compared in trials.compared.values():
            for why in compared.not_compared:
                return _error(f"not compared: {why}")
        return replayed(item.expected, trials.trial, hits)


def still_breaks(issue: KnownIssue, trials: GraphTrials) -> bool | None:
    """Whether the example of a known issue still shows it; None where that cannot be told."""
    return example_on(issue, trials)[0]


def example_on(issue: KnownIssue, trials: GraphTrials) -> tuple[bool | None, Hit | None]:
    """What `still_breaks` says, and what shows the issue, tried with the costly checks.

    Nothing of it is counted in the trials, whose process is used. Whether the issue is one of this release at all,
    `since` and `until`, is for the caller to say.
    """
    subject = trials.process.subject
    if issue.example is None or issue.generation != subject.generation:
        return None, None
    try:
        graph = read_example(issue.example, issue.id)
    except MalformedGraph:
        return None, None
    apart = issue.cloner in ("backend", "device")
    others = [
        other
        for other in (trials.others if isinstance(trials, TrialsAcross) else ())
        if terms_of(subject, other.subject).check == issue.cloner
    ]
    if (apart and not others) or unspoken(graph, subject):
        return None, None
    try:
        if not apart and _unable(issue.cloner, trials.process):
            return None, None
        heard = _Heard(trials.process, KnownIssues(), others if apart else (), cloners=() if apart else (issue.cloner,))
        found = heard.try_graph(graph, costly=not apart)
    except SubjectError:
        return None, None
    causes = [each.cause for each in found if each.cause is not None]
    if heard.trial is None or (apart and not causes and not any(each.graphs for each in heard.compared.values())):
        return None, None
    breaks = shows(Expected(issue=issue), heard.trial, causes)
    return breaks, next((each for each in found if each.cause is not None and explains(issue, each.cause)), None)


class _Heard(TrialsAcross):
    """trials that keeps its last trial."""

    trial: Trial | None = None

    def beside(self, graph: Graph, case: Case, trial: Trial) -> list[Hit]:
        self.trial = trial
        return super().beside(graph, case, trial)


def _subjects(item: Item, named: Subject | None) -> tuple[Subject, Subject | None]:
    """What an item is tried on; where it is of two that differ, both, with --subject in the release that it names."""
    if item.problem:
        raise SubjectError(item.problem)
    if item.across:
        both = map(Subject.parse, item.across)
        first, second = both if named is None else (_in_release(each, named) for each in both)
        return first, second
    if named is not None:
        return named, None
    if item.subject:
        return Subject.parse(item.subject), None
    generation = item.generation or "keras"
    if generation not in INSTALLED:
        raise SubjectError(
            f"of {generation}, for which nothing is installed here: name a release, such as --subject keras==2.2.4"
        )
    return Subject.parse(INSTALLED[generation]), None


def _in_release(subject: Subject, named: Subject) -> Subject:
    return Subject.parse(str(replace(subject, package=named.package, version=named.version)))


def _unable(cloner: str, process: SubjectProcess) -> str:
    # What is drawn for a release brings Hypothesis, for which whoever only reads need not wait.
    from harness.subjects.offers import unable

    return unable(cloner, process)


def _error(message: str) -> Replayed:
    return Replayed(ReplayOutcome.ERROR, message)


def _row(item: Item, subject: str, cloner: str, answer: Replayed) -> ReplayRow:
    return ReplayRow(
        item.where, item.title, item.id, subject, cloner, answer.outcome, answer.because, answer.shown, item.across
    )
