"""One case in two processes: each has a verdict on its own clones, and then the two are compared with each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.outcomes import Outcome, ValuesReport
from clonediff.harness.trials.across import between, comparable
from clonediff.harness.trials.trial import Trial, run
from clonediff.reports.records import UPSTREAM_AND_FIXED, Difference


@dataclass(frozen=True)
class Both:
    """The trial in each of the two, what differs between them, and the names of the runs that were compared."""

    trials: tuple[Trial, Trial]
    differences: tuple[Difference, ...]
    compared: tuple[str, ...]


def run_on_both(
    case: Case, first: SubjectProcess, second: SubjectProcess, cloners: Sequence[str] = UPSTREAM_AND_FIXED
) -> Both:
    """Run a case in two processes, which draw the same inputs and weights from its seed, and compare what they gave."""
    one, other = _Kept(first), _Kept(second)
    trials = run(case, one, cloners), run(case, other, cloners)
    assert one.outcome is not None
    assert other.outcome is not None
    differences = between(first, second, one.outcome, other.outcome)
    return Both(trials, tuple(differences), comparable(first.subject, second.subject))


class _Kept:
    """A subject's process whose first outcome is kept: that of all the cloners together."""

    def __init__(self, process: SubjectProcess) -> None:
        self.process = process
        self.subject = process.subject
        self.outcome: Outcome | None = None

    def trial(
        self, case: Case, *, cloners: Iterable[str], checks: Iterable[str] = (), timeout: float | None = None
    ) -> Outcome:
        outcome = self.process.trial(case, cloners=cloners, checks=checks, timeout=timeout)
        self.outcome = self.outcome or outcome
        return outcome

    def values(self, digests: Iterable[tuple[str, str]]) -> list[ValuesReport]:
        return self.process.values(digests)
