"""A finding, a graph or a known issue tried once more: is it there, gone, another?

A script is run first. A trial answers where no script can: for a graph alone, a script that does not make the very
comparison that differed, and where it ends in another way, which a trial explains.
`clonediff replay --help` says what each answer means.
"""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from clonediff.harness.answers.targets import Target
from clonediff.harness.scripts.alone import ReplayAnswer, ScriptRunner
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import search_path_of
from clonediff.harness.subjects.subject import Subject, UnknownSubjectError
from clonediff.harness.trials.checks import takes_costly
from clonediff.harness.trials.graph_trials import UPSTREAM, GraphTrials
from clonediff.harness.trials.triage import fingerprint, title
from clonediff.harness.trials.trial import LOST, Trial
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import UPSTREAM_AND_FIXED, Cause, Difference, Finding

BREAKS, GONE, OTHER, UNKNOWN = ReplayAnswer


class Shown(msgspec.Struct, frozen=True):
    """A cause that showed, and the known issue that explains it."""

    id: str
    title: str
    known: str | None


class ReplayRow(msgspec.Struct, frozen=True):
    """The answer for one target on one subject, why it is that one, and every cause that showed."""

    where: str
    title: str
    id: str
    subject: str
    cloner: str
    answer: ReplayAnswer = UNKNOWN
    because: str = ""
    causes: tuple[Shown, ...] = ()
    versions: dict[str, str] = {}
    seconds: float = 0.0


def replayed(
    targets: Iterable[Target],
    known: KnownIssues,
    *,
    subjects: Sequence[Subject] = (),
    cloner: str | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Generator[ReplayRow, None, None]:
    """The answers for each target on the given subjects, or else on the one it was found on, as they come.

    Those that need no process come first; then there is one process at a time, and `say` hears of which subject.
    """
    by_subject: dict[Subject, list[tuple[Target, ReplayRow]]] = defaultdict(list)
    for target in targets:
        # If the original itself ends its process, there is nothing to clone.
        cloned_by = "" if lost_by(target.finding) else cloner or target.cloner
        for name in map(str, subjects or (target.subject or target.generation,)):
            row = ReplayRow(target.where, target.title, target.id, name, cloned_by, because=target.problem)
            try:
                subject = Subject.parse(name or "keras")
            except UnknownSubjectError as error:
                yield replace(row, because=target.problem or str(error))
                continue
            if target.problem:
                yield row
            else:
                by_subject[subject].append((target, replace(row, subject=str(subject))))
    for subject, pairs in by_subject.items():
        say(f"starting {subject}")
        try:
            process = SubjectProcess(subject, search_path=search_path_of(subject))
            versions = process.versions  # starts it
        except SubjectError as error:
            yield from (replace(row, because=str(error)) for _, row in pairs)
            continue
        fixed, upstream = (ScriptRunner(subject, process.search_path, fixed=ours) for ours in (True, False))
        with process, contextlib.closing(fixed), contextlib.closing(upstream):
            for target, row in pairs:
                began = time.monotonic()
                try:
                    answered = _answered(row, target, upstream if row.cloner == UPSTREAM else fixed, process, known)
                except SubjectError as error:
                    answered = replace(row, because=str(error))
                yield replace(answered, versions=versions, seconds=time.monotonic() - began)


def _answered(
    row: ReplayRow, target: Target, runner: ScriptRunner, process: SubjectProcess, known: KnownIssues
) -> ReplayRow:
    """The row with what the script of a target shows, or else a trial of its graph."""
    if target.generation not in ("", process.subject.generation):
        return replace(row, because=f"it is of another generation, {target.generation}")
    # Ours can take the place of upstream in a script, but nothing that of another cloner.
    script = target.script if row.cloner in UPSTREAM_AND_FIXED and target.cloner == UPSTREAM else None
    if script is not None:
        answer, because = runner.answer(script)
        if answer in (BREAKS, GONE) or target.graph is None:
            return replace(row, answer=answer, because=because)
    if target.graph is None:
        return replace(row, because="the script of a known issue runs with the cloners upstream and fixed only")
    trials = GraphTrials(process, known, cloners=(row.cloner,) if row.cloner else ())
    differences = target.finding.differences if target.finding else ()  # what ends a process may do so in any part
    costly = True if not differences or any(map(takes_costly, differences)) else None
    trial = trials.try_or_say_why_not(target.graph, costly=costly)
    answer, because = answer_to(target.finding, trial)
    shown = (Shown(hit.id, hit.title, hit.known.id if hit.known else None) for hit in trial.hits if hit.cause)
    return replace(row, answer=answer, because=because, causes=tuple(shown))


def lost_by(finding: Finding | None) -> str:
    """How the original ended its process, if that is the finding."""
    if finding is None or finding.root is not None or not finding.id.startswith(LOST):
        return ""
    return finding.detail.partition(":")[0]


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
    ran = getattr(trial.original, root.run, None) if root.run else None
    if ran is not None and ran.failure is not None:
        return UNKNOWN, f"the original itself fails in {root.run}: {ran.failure.type}"
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
