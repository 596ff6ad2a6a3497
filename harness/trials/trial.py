"""From a subject's outcome of a case to a verdict on each cloner, with its differences and their causes."""

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
from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.checks.made import PROCESS_LOST, innermost, looping
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.triage import Verdict, causes, of_plain_models, verdict, with_blame
from clonediff.reports.known import KnownIssue
from clonediff.reports.records import UPSTREAM_AND_FIXED, Blame, Cause, Difference, Numbers, Raised
from clonediff.reports.run_folder import slug
from clonediff.strategies.program import Graph

__all__ = ["LOST", "Case", "CloneTrial", "Hit", "Key", "Trial", "lost_difference", "run"]

Key = tuple[str, str]

LOST = "process-lost"
"""The fingerprint of an original that takes its process with it."""

_LEAST_SECONDS = 20.0
_SECONDS_FACTOR = 20.0
"""Where a cloner does not end, each is run alone, for twenty times what the model takes, and at least 20 s."""


class CloneTrial(msgspec.Struct, frozen=True):
    """What a trial says of one cloner, by the causes of what is wrong with its clone. `pair` has both models."""

    causes: tuple[Cause, ...] = ()
    pair: Pair | None = None

    @property
    def differences(self) -> tuple[Difference, ...]:
        return tuple(difference for cause in self.causes for difference in cause.differences)

    @property
    def verdict(self) -> Verdict:
        return verdict(self.differences)


class Hit(msgspec.Struct, frozen=True):
    """Something that a trial showed. `known` is the issue that explains it; what has none is new.

    `graph` is None of a model that was not drawn, `pair` where the original takes its process with it.
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
        """Whose fault it is; None where no cloner is at fault."""
        return None if self.cause is None else self.cause.blame

    @property
    def key(self) -> Key:
        return self.cloner, self.id

    @property
    def id(self) -> str:
        """The name of the finding. A process that was lost is known by what ended it."""
        if self.fingerprint != LOST:
            return self.fingerprint
        return slug(self.fingerprint, self.detail.partition(":")[0].lower())


class Trial(msgspec.Struct, frozen=True):
    """One case on one subject, through some cloners, under all checks.

    `not_tried` says why nothing could be run at all, `refused` why the original could not be built, `lost` how it took
    its process with it. `hits` are the causes that count, looked up among the known issues: `GraphTrials` adds them.
    """

    clones: dict[str, CloneTrial] = {}
    refused: Failure | None = None
    lost: Lost | None = None
    original: Observation | None = None
    hits: tuple[Hit, ...] = ()
    not_tried: str = ""

    @property
    def causes(self) -> list[Cause]:
        return [hit.cause for hit in self.hits if hit.cause is not None]

    @property
    def built(self) -> bool:
        return self.refused is None and self.lost is None and not self.not_tried

    @property
    def unrun(self) -> bool:
        """Whether the original was built and does not run: what a clone of it computes cannot be compared."""
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
    """Run a trial; a `costly` one has a second clone, and compiled models are trained, as well.

    Where the trial takes the process with it, it is run again with no cloner, and then with each on its own. Where a
    cloner has changed the original, the others are tried on another one.
    """
    outcome = subject.trial(case, cloners=cloners, costly=costly, timeout=timeout)
    if isinstance(outcome, Answer):
        names = [name for name in cloners if name in outcome.clones] or cloners
        first = _judge(case, subject, names, outcome)
        others = [name for name in cloners if name not in names]
        rest = run(case, subject, others, costly, timeout=timeout) if others else first
        if not rest.built or not others:
            return rest
        clones = {**first.clones, **rest.clones}
        return _blamed({name: clones[name] for name in cloners}, rest.original)
    alone = subject.trial(case, cloners=(), costly=costly, timeout=timeout) if cloners else outcome
    if not isinstance(alone, Answer) or alone.original is None:
        return Trial(lost=alone) if isinstance(alone, Lost) else _judge(case, subject, (), alone)
    if outcome.how == TIMED_OUT:
        timeout = min(outcome.seconds, max(_LEAST_SECONDS, _SECONDS_FACTOR * alone.seconds))
    judged: dict[str, CloneTrial] = {}
    for name in cloners:
        if len(cloners) > 1:
            outcome = subject.trial(case, cloners=[name], costly=costly, timeout=timeout)
        if isinstance(outcome, Lost):
            ended = causes(None, [lost_difference(outcome)], tuple(case.arguments))
            judged[name] = CloneTrial(tuple(ended), Pair(alone.original, Clone()))
            continue
        judged.update(_judge(case, subject, [name], outcome).clones)
    return _blamed(judged, alone.original)


def _judge(case: Case, subject: SubjectProcess, cloners: Sequence[str], answer: Answer) -> Trial:
    original = answer.original
    if original is None:
        refused = answer.refused or Failure("ProtocolError", "the answer has no original and does not say why")
        return Trial(refused=refused)
    by_cloner = {name: of_plain_models(compare(original, answer.clones[name])) for name in cloners}
    judged: dict[str, CloneTrial] = {}
    for name, differences in _with_numbers(by_cloner, subject).items():
        broken = causes(original, differences, tuple(case.arguments))
        promised = tuple(cause for cause in broken if case.compiles or cause.root.aspect != "compiled")
        judged[name] = CloneTrial(promised, Pair(original, answer.clones[name]))
    return _blamed(judged, original)


def _blamed(judged: Mapping[str, CloneTrial], original: Observation | None) -> Trial:
    blamed = with_blame({name: clone.causes for name, clone in judged.items()})
    return Trial({name: replace(clone, causes=blamed[name]) for name, clone in judged.items()}, original=original)


def _with_numbers(by_cloner: dict[str, list[Difference]], subject: SubjectProcess) -> dict[str, list[Difference]]:
    everything = itertools.chain.from_iterable(by_cloner.values())
    pairs = dict.fromkeys(difference.digests for difference in everything if difference.digests)
    if not pairs:
        return by_cloner
    numbers: dict[tuple[str, str] | None, Numbers | None] = {None: None}
    numbers.update(zip(pairs, map(_numbers, subject.values(list(pairs))), strict=True))
    return {
        name: [replace(difference, numbers=numbers[difference.digests]) for difference in differences]
        for name, differences in by_cloner.items()
    }


def _numbers(report: ValuesReport) -> Numbers | None:
    if report.missing or report.count is None or report.values is None:
        return None
    return Numbers(report.max_abs, report.count, math.prod(report.shape[0]), report.first or (), *report.values)


def lost_difference(lost: Lost) -> Difference:
    """The difference that stands for a process that was lost. How long or how large it was is in its message only."""
    frame = (looping if lost.how == TIMED_OUT else innermost)(lost.frames)
    raised = Raised(lost.how, lost.message[:300], frame)
    return differs(PROCESS_LOST, "process", "", "process", "an answer", lost.line, None, name=lost.how, raised=raised)
