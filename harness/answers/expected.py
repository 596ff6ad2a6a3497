"""What a replay expects of a trial, and what came of it."""

from __future__ import annotations

import enum
import re

import msgspec

from clonediff.harness.subjects.observation import Observation
from clonediff.harness.trials.checks import takes_costly
from clonediff.harness.trials.triage import alike, fingerprint, title
from clonediff.harness.trials.trial import LOST, Trial
from clonediff.reports.records import Cause, Difference, Finding


class ReplayOutcome(enum.StrEnum):
    """The answer of a replay."""

    FIXED = "FIXED"
    HOLDS = "HOLDS"
    BROKEN = "STILL BROKEN"
    CHANGED = "CHANGED"
    ERROR = "ERROR"


Answer = tuple[ReplayOutcome, str]
"""An outcome, and why it is that one."""
_AS_IT_FAILS = ("no longer raises", "raises another")
"""Aspects that show only where the original itself fails."""
_OF_ANOTHER = re.compile(r"^(original|again|twice)\.")
"""What a path begins with that is of another model than the clone."""
_USES_WEIGHTS = ("inference", "training", "trained", "again", "twice")


class Expected(msgspec.Struct, frozen=True):
    """What is expected: the cause of a finding, an original that ends its process, or nothing at all.

    `lost` is what ended it.
    """

    cause: Cause | None = None
    lost: str = ""

    @classmethod
    def of(cls, finding: Finding) -> Expected:
        """What a finding says. Its id is that of its cause."""
        if finding.root is not None:
            severity = min(difference.severity for difference in finding.differences)
            return cls(Cause(fingerprint(finding.root), finding.root, finding.differences[1:], severity))
        return cls(lost=finding.detail.partition(":")[0]) if finding.id.startswith(LOST) else cls()

    @property
    def costly(self) -> bool:
        """Whether it takes the costly part of a trial to see it; what ends a process may do so in any part."""
        return self.cause is None or any(takes_costly(each.check, each.path) for each in self.cause.differences)


def answer_to(expected: Expected, tried: Trial) -> Answer:
    """What became of what was expected."""
    if tried.not_tried:
        return ReplayOutcome.ERROR, tried.not_tried
    if tried.lost is not None:
        other = ReplayOutcome.CHANGED if expected.lost else ReplayOutcome.ERROR
        outcome = ReplayOutcome.BROKEN if tried.lost.how == expected.lost else other
        return outcome, f"the original takes its process with it: {tried.lost.said}"
    if tried.refused is not None:
        said = f"{tried.refused.type}: {tried.refused.message}"
        return ReplayOutcome.ERROR, f"the original cannot be built: {said}"
    if expected.lost:
        return ReplayOutcome.FIXED, "the original is built and runs"
    if expected.cause is None:
        return (ReplayOutcome.BROKEN if tried.hits else ReplayOutcome.HOLDS), ""
    return _of_cause(expected.cause, tried)


def _of_cause(expected: Cause, tried: Trial) -> Answer:
    if any(cause.fingerprint == expected.fingerprint for cause in tried.causes):
        return ReplayOutcome.BROKEN, ""
    failure = _failure(tried.original, expected.root)
    if failure:
        return ReplayOutcome.ERROR, f"the original itself {failure}"
    new = [hit.cause for hit in tried.hits if hit.cause is not None and hit.known is None]
    if new:
        return ReplayOutcome.CHANGED, _instead(expected, new)
    for cause in tried.causes:
        if any(fingerprint(follower) == expected.fingerprint for follower in cause.followers):
            return ReplayOutcome.CHANGED, f"it follows from another: {title(cause)} [{cause.fingerprint}]"
        if any(_hides(difference, expected.root) for difference in cause.differences):
            return ReplayOutcome.CHANGED, f"it cannot be seen behind another: {title(cause)} [{cause.fingerprint}]"
    known = ", ".join(dict.fromkeys(hit.known.id for hit in tried.hits if hit.known is not None))
    return ReplayOutcome.FIXED, f"known issues remain: {known}" if known else ""


def _instead(expected: Cause, new: list[Cause]) -> str:
    for cause in new:
        if alike(expected, cause):
            return f"the same, but raised elsewhere: {cause.root.raised.frame if cause.root.raised else ''}"
    return "gone; instead: " + "; ".join(f"{title(cause)} [{cause.fingerprint}]" for cause in new)


def _hides(difference: Difference, expected: Difference) -> bool:
    """Whether an exception ends the part of a trial in which the expected difference was seen."""
    if difference.raised is None or difference.check == "warned":
        return False
    behind = expected.path.startswith(difference.path)
    not_copied = difference.path == "set_weights" and expected.path.startswith(_USES_WEIGHTS)
    return difference.check == "made" or behind or not_copied


def _failure(original: Observation | None, expected: Difference) -> str:
    """Why the original has nothing to compare a clone with in that part of a trial; "" where it has."""
    part = re.split(r"[.\[]", _OF_ANOTHER.sub("", expected.path))[0]
    if original is None or part not in ("inference", "training", "trained") or expected.aspect in _AS_IT_FAILS:
        return ""
    ran = getattr(original, part)
    if ran is None:
        return "cannot be trained" if part == "trained" else ""
    return f"fails in {part}: {ran.failure.type}" if ran.failure is not None else ""
