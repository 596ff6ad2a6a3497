"""Try a finding, a graph or a known issue again.

Its script is run first. If that does not decide, a trial of its graph follows.
"""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from clonediff.harness.answers.targets import Target
from clonediff.harness.scripts.runner import ReplayAnswer, ScriptRunner
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import search_path_of
from clonediff.harness.subjects.subject import Subject, UnknownSubjectError
from clonediff.harness.trials.checks import needs_costly_trial
from clonediff.harness.trials.graph_trials import UPSTREAM, GraphTrials
from clonediff.harness.trials.triage import fingerprint, title
from clonediff.harness.trials.trial import LOST_FINGERPRINT, Trial
from clonediff.reports.known import KnownIssues
from clonediff.reports.markup import one_line
from clonediff.reports.records import UPSTREAM_AND_FIXED, Cause, Difference, Finding

BREAKS, GONE, OTHER, UNKNOWN = ReplayAnswer
_ANSWER_WIDTH = max(map(len, ReplayAnswer))


class CauseSummary(msgspec.Struct, frozen=True):
    """A cause in a trial, and the known issue that explains it."""

    id: str
    title: str
    known: str | None


class ReplayRow(msgspec.Struct, frozen=True, rename={"address": "where"}):
    """The answer for a target on a subject, with its causes."""

    address: str
    title: str
    id: str
    subject: str
    cloner: str
    answer: ReplayAnswer = UNKNOWN
    reason: str = ""
    causes: tuple[CauseSummary, ...] = ()
    versions: dict[str, str] = {}
    seconds: float = 0.0


def replay(
    targets: Iterable[Target],
    known: KnownIssues,
    *,
    subjects: Sequence[Subject] = (),
    cloner: str | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> Generator[ReplayRow, None, None]:
    """Yield the answer for each target on each subject, or on its own subject.

    Answers that need no process come first. `report` gets a line for each process.
    """
    by_subject: dict[Subject, list[tuple[Target, ReplayRow]]] = defaultdict(list)
    for target in targets:
        # If the original ends its process, no cloner is called.
        cloner_name = "" if process_ending(target.finding) else cloner or target.cloner
        for name in map(str, subjects or (target.subject or target.generation,)):
            row = ReplayRow(target.address, target.title, target.id, name, cloner_name, reason=target.problem)
            try:
                subject = Subject.parse(name or "keras")
            except UnknownSubjectError as error:
                yield replace(row, reason=target.problem or str(error))
                continue
            if target.problem:
                yield row
            else:
                by_subject[subject].append((target, replace(row, subject=str(subject))))
    for subject, pairs in by_subject.items():
        report(f"starting {subject}")
        try:
            process = SubjectProcess(subject, search_path=search_path_of(subject))
            versions = process.versions  # starts the process
        except SubjectError as error:
            yield from (replace(row, reason=str(error)) for _, row in pairs)
            continue
        fixed, upstream = (ScriptRunner(subject, process.search_path, fixed=is_fixed) for is_fixed in (True, False))
        with process, contextlib.closing(fixed), contextlib.closing(upstream):
            for target, row in pairs:
                start = time.monotonic()
                try:
                    answer = _answer_row(row, target, upstream if row.cloner == UPSTREAM else fixed, process, known)
                except SubjectError as error:
                    answer = replace(row, reason=str(error))
                yield replace(answer, versions=versions, seconds=time.monotonic() - start)


def _answer_row(
    row: ReplayRow, target: Target, runner: ScriptRunner, process: SubjectProcess, known: KnownIssues
) -> ReplayRow:
    """The answer of the target's script, or else of a trial."""
    if target.generation not in ("", process.subject.generation):
        return replace(row, reason=f"it only applies to {target.generation}")
    # The runner can only replace upstream, and only with `fixed`.
    script = target.script if row.cloner in UPSTREAM_AND_FIXED and target.cloner == UPSTREAM else None
    if script is not None:
        answer, reason = runner.answer(script)
        if answer in (BREAKS, GONE) or target.graph is None:
            return replace(row, answer=answer, reason=reason)
    if target.graph is None:
        return replace(row, reason="a known issue can only be replayed with --cloner upstream or fixed")
    trials = GraphTrials(process, known, cloners=(row.cloner,) if row.cloner else ())
    differences = target.finding.differences if target.finding else ()  # none if the process was lost
    costly = True if not differences or any(map(needs_costly_trial, differences)) else None
    trial = trials.try_if_supported(target.graph, costly=costly)
    answer, reason = answer_of(target.finding, trial)
    items = [item for item in trial.found_causes if item.cause]
    summaries = (CauseSummary(item.id, item.title, item.known.id if item.known else None) for item in items)
    return replace(row, answer=answer, reason=reason, causes=tuple(summaries))


def process_ending(finding: Finding | None) -> str:
    """How the original ended its process, if that is the finding, or ""."""
    if finding is None or finding.root is not None or not finding.id.startswith(LOST_FINGERPRINT):
        return ""
    return finding.detail.partition(":")[0]


def answer_of(finding: Finding | None, trial: Trial) -> tuple[ReplayAnswer, str]:
    """Whether a trial shows the finding (without one, any cause), and the reason."""
    ending = process_ending(finding)
    if trial.skip_reason:
        return UNKNOWN, trial.skip_reason
    if trial.lost is not None:
        answer = BREAKS if trial.lost.reason == ending else OTHER if ending else UNKNOWN
        return answer, f"the original ends its process: {trial.lost.line}"
    if trial.refusal is not None:
        return UNKNOWN, f"the original cannot be built: {trial.refusal.type}: {trial.refusal.message}"
    if ending:
        return GONE, "the original can be built and run"
    if finding is None or finding.root is None:
        return (BREAKS if trial.found_causes else GONE), ""
    return _answer_of_root(finding.root, trial)


def _answer_of_root(root: Difference, trial: Trial) -> tuple[ReplayAnswer, str]:
    expected = fingerprint(root)
    if any(cause.fingerprint == expected for cause in trial.causes):
        return BREAKS, ""
    run = getattr(trial.original, root.run, None) if root.run else None
    if run is not None and run.failure is not None:
        return UNKNOWN, f"the original itself fails in {root.run}: {run.failure.type}"
    causes = [item.cause for item in trial.found_causes if item.cause is not None and item.known is None]
    if causes:
        return OTHER, f"gone; instead: {'; '.join(map(_title_with_id, causes))}"
    for cause in trial.causes:
        if any(fingerprint(follower) == expected for follower in cause.followers):
            return OTHER, f"it follows from another cause: {_title_with_id(cause)}"
        if any(_hides(item, root) for item in cause.differences):
            return OTHER, f"it is masked by another cause: {_title_with_id(cause)}"
    known = ", ".join(dict.fromkeys(item.known.id for item in trial.found_causes if item.known is not None))
    return GONE, f"known issues remain: {known}" if known else ""


def _title_with_id(cause: Cause) -> str:
    return f"{title(cause)} [{cause.fingerprint}]"


def _hides(difference: Difference, expected: Difference) -> bool:
    """Whether an exception hides the expected difference."""
    if difference.raised is None or difference.check == "warned":
        return False
    if difference.change == "raises" and not difference.run:  # no clone, or its weights were not set
        return difference.check == "made" or expected.run != "" or expected.check == "again"
    return difference.model == expected.model and difference.run in ("", expected.run)


def row_lines(row: ReplayRow) -> Iterator[str]:
    """Yield an answer's lines for a terminal; details are indented."""
    indent = " " * (_ANSWER_WIDTH + 2)
    text = f"{row.title} [{row.id}]" if row.id else row.title or row.address
    text += f", cloned by {row.cloner}" if row.cloner and row.title else ""
    yield "  ".join(filter(None, (row.answer.value.ljust(_ANSWER_WIDTH), one_line(row.subject), one_line(text))))
    if row.answer is UNKNOWN and row.title and row.id != row.address:
        yield indent + one_line(f"of {row.address}")
    if row.reason:
        yield indent + one_line(row.reason)
    if row.answer is BREAKS:
        verb = "also shows" if row.id else "shows"
        for cause in row.causes:
            if row.id not in (cause.id, cause.known):
                known = f" (known: {cause.known})" if cause.known else ""
                yield indent + one_line(f"{verb}: {cause.title} [{cause.id}]{known}")
