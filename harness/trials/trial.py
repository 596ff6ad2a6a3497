"""Runs a case on a subject, and finds each cloner's causes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from clonediff.harness.observation import Answer, Case, Clone, Failure, Observation
from clonediff.harness.subjects.outcomes import TIMED_OUT, Lost, ValuesReport
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.checks import compare
from clonediff.harness.trials.checks.alignment import Pair
from clonediff.harness.trials.checks.aspects import difference_of
from clonediff.harness.trials.checks.failures import PROCESS_LOST, innermost_frame, looping_frame
from clonediff.harness.trials.triage import Verdict, add_blame, causes, use_plain_models, verdict
from clonediff.reports.known import KnownIssue
from clonediff.reports.records import UPSTREAM_AND_FIXED, Blame, Cause, Difference, Numbers, Raised
from clonediff.reports.run_folder import slug
from clonediff.strategies.program import Graph

__all__ = ["LOST_FINGERPRINT", "Case", "CloneTrial", "Key", "Trial", "TrialCause", "process_difference", "run"]

Key = tuple[str, str]

LOST_FINGERPRINT = "process-lost"
"""The fingerprint if the original crashes its process."""

_MIN_SECONDS = 20.0
_SECONDS_FACTOR = 20.0
"""After a timeout, a cloner has 20 times the time of the model, at least 20 s."""


class CloneTrial(msgspec.Struct, frozen=True):
    """A cloner's causes in a trial; `pair` has the original and clone."""

    causes: tuple[Cause, ...] = ()
    pair: Pair | None = None

    @property
    def differences(self) -> tuple[Difference, ...]:
        return tuple(item for cause in self.causes for item in cause.differences)

    @property
    def verdict(self) -> Verdict:
        return verdict(self.differences)


class TrialCause(msgspec.Struct, frozen=True):
    """A cause in a trial, new or a `known` issue.

    `graph` is None if the model was not drawn, `cause` and `pair` are None if the original crashes its process.
    """

    fingerprint: str
    cloner: str
    title: str
    case: Case
    graph: Graph | None = None
    cause: Cause | None = None
    known: KnownIssue | None = None
    detail: str = ""
    pair: Pair | None = None

    @property
    def blame(self) -> Blame | None:
        """Who is at fault; None if no cloner is."""
        return None if self.cause is None else self.cause.blame

    @property
    def key(self) -> Key:
        return self.cloner, self.id

    @property
    def id(self) -> str:
        """The finding's name; if the process was lost, with the reason."""
        if self.fingerprint != LOST_FINGERPRINT:
            return self.fingerprint
        return slug(self.fingerprint, self.detail.partition(":")[0].lower())


class Trial(msgspec.Struct, frozen=True):
    """The result of a case on a subject, for each cloner.

    `skip_reason` says why nothing was run. `refusal` is the failure if the original could not be built; if it
    crashed its process, `lost` says how. `GraphTrials` adds `found_causes`, the causes with their known issues.
    """

    clones: dict[str, CloneTrial] = {}
    refusal: Failure | None = None
    lost: Lost | None = None
    original: Observation | None = None
    found_causes: tuple[TrialCause, ...] = ()
    skip_reason: str = ""

    @property
    def causes(self) -> list[Cause]:
        return [found.cause for found in self.found_causes if found.cause is not None]

    @property
    def is_built(self) -> bool:
        return self.refusal is None and self.lost is None and not self.skip_reason

    @property
    def cannot_run(self) -> bool:
        """Whether the original was built but does not run."""
        ran = self.original.inference if self.original else None
        return ran is not None and ran.failure is not None


def run(
    case: Case,
    subject: SubjectProcess,
    cloners: Sequence[str] = UPSTREAM_AND_FIXED,
    costly: bool = False,
    *,
    timeout: float | None = None,
) -> Trial:
    """Run a trial; if `costly`, clone a second time, and train compiled models.

    If the process is lost, run the trial without cloners, then with each cloner alone. If a cloner changes the
    original, run another trial with the cloners that were not called.
    """
    outcome = subject.trial(case, cloners=cloners, costly=costly, timeout=timeout)
    if isinstance(outcome, Answer):
        names = [name for name in cloners if name in outcome.clones] or cloners
        trial = _compare_clones(case, subject, names, outcome)
        remaining = [name for name in cloners if name not in names]
        rest = run(case, subject, remaining, costly, timeout=timeout) if remaining else trial
        if not rest.is_built or not remaining:
            return rest
        clones = {**trial.clones, **rest.clones}
        return _add_blame({name: clones[name] for name in cloners}, rest.original)
    answer = subject.trial(case, cloners=(), costly=costly, timeout=timeout) if cloners else outcome
    if not isinstance(answer, Answer) or answer.original is None:
        return Trial(lost=answer) if isinstance(answer, Lost) else _compare_clones(case, subject, (), answer)
    if outcome.reason == TIMED_OUT:
        timeout = min(outcome.seconds, max(_MIN_SECONDS, _SECONDS_FACTOR * answer.seconds))
    clone_trials: dict[str, CloneTrial] = {}
    must_repeat = len(cloners) > 1 or outcome.reason != TIMED_OUT  # the child may have been killed from outside
    for name in cloners:
        if must_repeat:
            outcome = subject.trial(case, cloners=[name], costly=costly, timeout=timeout)
        if isinstance(outcome, Lost):
            found = causes(None, [process_difference(outcome)], tuple(case.arguments))
            clone_trials[name] = CloneTrial(tuple(found), Pair(answer.original, Clone()))
            continue
        clone_trials.update(_compare_clones(case, subject, [name], outcome).clones)
    return _add_blame(clone_trials, answer.original)


def _compare_clones(case: Case, subject: SubjectProcess, cloners: Sequence[str], answer: Answer) -> Trial:
    original = answer.original
    if original is None:
        refusal = answer.refusal or Failure("ProtocolError", "the answer has neither an original nor a reason")
        return Trial(refusal=refusal)
    by_cloner = {name: use_plain_models(compare(original, answer.clones[name])) for name in cloners}
    clone_trials: dict[str, CloneTrial] = {}
    for name, differences in _add_numbers(by_cloner, subject).items():
        found = causes(original, differences, tuple(case.arguments))
        relevant = tuple(cause for cause in found if case.must_compile or cause.root.aspect != "compiled")
        clone_trials[name] = CloneTrial(relevant, Pair(original, answer.clones[name]))
    return _add_blame(clone_trials, original)


def _add_blame(clone_trials: Mapping[str, CloneTrial], original: Observation | None) -> Trial:
    blamed = add_blame({name: clone.causes for name, clone in clone_trials.items()})
    return Trial({name: replace(clone, causes=blamed[name]) for name, clone in clone_trials.items()}, original=original)


def _add_numbers(by_cloner: dict[str, list[Difference]], subject: SubjectProcess) -> dict[str, list[Difference]]:
    differences = itertools.chain.from_iterable(by_cloner.values())
    pairs = dict.fromkeys(item.digests for item in differences if item.digests)
    if not pairs:
        return by_cloner
    numbers: dict[tuple[str, str] | None, Numbers | None] = {None: None}
    numbers.update(zip(pairs, map(_numbers, subject.values(list(pairs))), strict=True))
    return {
        name: [replace(item, numbers=numbers[item.digests]) for item in differences]
        for name, differences in by_cloner.items()
    }


def _numbers(report: ValuesReport) -> Numbers | None:
    if report.missing or report.count is None or report.values is None:
        return None
    return Numbers(report.max_abs, report.count, math.prod(report.shape[0]), report.first or (), *report.values)


def process_difference(lost: Lost) -> Difference:
    """A lost process's difference, without durations and sizes."""
    frame = (looping_frame if lost.reason == TIMED_OUT else innermost_frame)(lost.frames)
    raised = Raised(lost.reason, lost.message[:300], frame)
    return difference_of(
        PROCESS_LOST, "process", "", "process", "an answer", lost.line, None, name=raised.type, raised=raised
    )
