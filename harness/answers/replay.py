"""A finding, a graph or a known issue tried once more: is it there, gone, another?

A script is run first. A trial answers where no script can: for a graph alone, a script that does not make the very
comparison that differed, and where it ends in another way, which a trial explains.

breaks: the script fails as it should, at the statement that clones or after it; the cause shows, by its fingerprint;
  or a graph that is of no finding is not cloned faithfully.
gone: the script passes; or it does not show, and the clone is faithful but for known issues.
other: the script fails in another way; something new shows instead, or something else hides it.
cannot tell: it could not be tried.
"""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from clonediff.harness.answers.causes import CauseShown, causes_shown
from clonediff.harness.answers.targets import Target
from clonediff.harness.observation import Observation
from clonediff.harness.scripts.alone import ReplayAnswer, ScriptRunner
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import Subject, UnknownSubjectError
from clonediff.harness.trials.checks import takes_costly
from clonediff.harness.trials.graph_trials import UPSTREAM, GraphTrials
from clonediff.harness.trials.triage import fingerprint, title
from clonediff.harness.trials.trial import LOST, Trial
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import UPSTREAM_AND_FIXED, Cause, Difference, Finding

BREAKS, GONE = ReplayAnswer.BREAKS, ReplayAnswer.GONE
OTHER, UNKNOWN = ReplayAnswer.OTHER, ReplayAnswer.UNKNOWN


class ReplayRow(msgspec.Struct, frozen=True):
    """The answer for one target on one subject, why it is that one, and every cause that showed."""

    where: str
    title: str
    id: str
    subject: str
    cloner: str
    answer: ReplayAnswer = UNKNOWN
    because: str = ""
    causes: tuple[CauseShown, ...] = ()
    versions: dict[str, str] = {}
    seconds: float = 0.0


def worst_last(rows: Iterable[ReplayRow]) -> list[list[ReplayRow]]:
    """The answers for each target, worst last, and the targets by their worst answer, worst last."""
    by_target: dict[str, list[ReplayRow]] = defaultdict(list)
    for row in rows:
        by_target[row.where].append(row)
    how_bad = {answer: number for number, answer in enumerate((GONE, UNKNOWN, OTHER, BREAKS))}
    answers = [sorted(rows, key=lambda row: how_bad[row.answer]) for rows in by_target.values()]
    return sorted(answers, key=lambda rows: how_bad[rows[-1].answer])


class Replays:
    """Tries each target on the given subjects, or else on the one it was found on; one process at a time."""

    def __init__(
        self,
        targets: Iterable[Target],
        known: KnownIssues,
        *,
        subjects: Sequence[Subject] = (),
        cloner: str | None = None,
    ) -> None:
        self._known = known
        self._by_subject: dict[Subject | None, list[tuple[Target, ReplayRow]]] = {None: []}
        for target in targets:
            for name in [str(subject) for subject in subjects] or [target.subject or target.generation]:
                # If the original itself ends its process, there is nothing to clone.
                cloned_by = "" if lost_by(target.finding) else cloner or target.cloner
                row = ReplayRow(target.where, target.title, target.id, name, cloned_by)
                try:
                    subject = None if target.problem else Subject.parse(name or "keras")
                    row = replace(row, subject=str(subject or name), because=target.problem)
                except UnknownSubjectError as error:
                    subject, row = None, replace(row, because=str(error))
                self._by_subject.setdefault(subject, []).append((target, row))

    def __len__(self) -> int:
        return sum(map(len, self._by_subject.values()))

    def rows(self, say: Callable[[str], None] = lambda line: None) -> Generator[ReplayRow, None, None]:
        """The answers as they come, those that need no process first. `say` hears which subject is started."""
        for subject, pairs in self._by_subject.items():
            if subject is None:
                yield from (row for _, row in pairs)
                continue
            say(f"starting {subject}")
            try:
                process = SubjectProcess(subject, place=place_of(subject))
                versions = process.versions  # starts it
            except SubjectError as error:
                yield from (replace(row, because=str(error)) for _, row in pairs)
                continue
            fixed = ScriptRunner(subject, process.place, fixed=True)
            upstream = ScriptRunner(subject, process.place)
            with process, contextlib.closing(fixed), contextlib.closing(upstream):
                for target, row in pairs:
                    began = time.monotonic()
                    runner = upstream if row.cloner == UPSTREAM else fixed
                    try:
                        answered = self._answered(row, target, runner, process)
                    except SubjectError as error:
                        answered = replace(row, because=str(error))
                    yield replace(answered, versions=versions, seconds=time.monotonic() - began)

    def _answered(self, row: ReplayRow, target: Target, runner: ScriptRunner, process: SubjectProcess) -> ReplayRow:
        """The row with what the script of a target shows, or else a trial."""
        if target.generation not in ("", process.subject.generation):
            return replace(row, because=f"it is of another generation, {target.generation}")
        script = target.script if row.cloner in UPSTREAM_AND_FIXED else None
        if script is None and target.graph is None:
            return replace(row, because="the script of a known issue runs with the cloners upstream and fixed only")
        if script is not None:
            answer, because = runner.answer(script)
            if answer in (BREAKS, GONE) or target.graph is None:
                return replace(row, answer=answer, because=because)
        return self._by_trial(row, target, process)

    def _by_trial(self, row: ReplayRow, target: Target, process: SubjectProcess) -> ReplayRow:
        """The row with what a trial of the graph shows."""
        assert target.graph is not None
        trials = GraphTrials(process, self._known, cloners=(row.cloner,) if row.cloner else ())
        trial = trials.try_or_say_why_not(target.graph, costly=needs_costly(target.finding) or None)
        answer, because = answer_to(target.finding, trial)
        return replace(row, answer=answer, because=because, causes=causes_shown(trial))


def lost_by(finding: Finding | None) -> str:
    """How the original ended its process, if that is the finding."""
    if finding is None or finding.root is not None or not finding.id.startswith(LOST):
        return ""
    return finding.detail.partition(":")[0]


def needs_costly(finding: Finding | None) -> bool:
    """Whether it takes the costly part of a trial to see it; what ends a process may do so in any part."""
    if finding is None or finding.root is None:
        return True
    return any(takes_costly(difference) for difference in finding.differences)


def answer_to(finding: Finding | None, trial: Trial) -> tuple[ReplayAnswer, str]:
    """What became of a finding in a trial; without one, whether the clone is faithful."""
    lost = lost_by(finding)
    if trial.not_tried:
        return UNKNOWN, trial.not_tried
    if trial.lost is not None:
        answer = BREAKS if trial.lost.how == lost else OTHER if lost else UNKNOWN
        return answer, f"the original takes its process with it: {trial.lost.line}"
    if trial.refused is not None:
        return UNKNOWN, f"the original cannot be built: {trial.refused.type}: {trial.refused.message}"
    if lost:
        return GONE, "the original is built and runs"
    if finding is None or finding.root is None:
        return (BREAKS if trial.hits else GONE), ""
    return _of_root(finding.root, trial)


def _of_root(root: Difference, trial: Trial) -> tuple[ReplayAnswer, str]:
    """What became of a cause, by its root."""
    expected = fingerprint(root)
    if any(cause.fingerprint == expected for cause in trial.causes):
        return BREAKS, ""
    failure = _failure(trial.original, root)
    if failure:
        return UNKNOWN, f"the original itself {failure}"
    new = [hit.cause for hit in trial.hits if hit.cause is not None and hit.known is None]
    if new:
        return OTHER, f"gone; instead: {'; '.join(map(_named, new))}"
    for cause in trial.causes:
        if any(fingerprint(follower) == expected for follower in cause.followers):
            return OTHER, f"it follows from another: {_named(cause)}"
        if any(_hides(difference, root) for difference in cause.differences):
            return OTHER, f"it cannot be seen behind another: {_named(cause)}"
    known = ", ".join(dict.fromkeys(hit.known.id for hit in trial.hits if hit.known is not None))
    return GONE, f"known issues remain: {known}" if known else ""


def _named(cause: Cause) -> str:
    return f"{title(cause)} [{cause.fingerprint}]"


def _hides(difference: Difference, expected: Difference) -> bool:
    """Whether an exception ends the part of a trial in which the expected difference was seen."""
    if difference.raised is None or difference.check == "warned":
        return False
    if difference.change == "raises" and not difference.run:  # no weights were set, or there is no clone
        return difference.check == "made" or expected.run != "" or expected.check == "again"
    return difference.model == expected.model and difference.run in ("", expected.run)


def _failure(original: Observation | None, expected: Difference) -> str:
    """How the original itself fails in the part of a trial that shows the difference: "fails in inference", or ""."""
    ran = getattr(original, expected.run) if original is not None and expected.run else None
    return f"fails in {expected.run}: {ran.failure.type}" if ran is not None and ran.failure is not None else ""
