"""What is expected of a trial, and whether it shows: the cause of a finding, or anything at all.

A cause that no check looked for, on either model, is never gone: `_unseen` and `_hidden` say why it may be there.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence

import msgspec

from clonediff.harness.subjects.observation import Observation
from clonediff.harness.trials.checks import takes_costly
from clonediff.harness.trials.triage import alike, fingerprint, makes_a_clone, title
from clonediff.harness.trials.trial import LOST, Trial
from clonediff.reports.records import Cause, Difference, Finding


class LookResult(enum.Enum):
    """What came of looking for something; where nothing is expected, anything that shows is it."""

    SHOWS = "it shows"
    GONE = "it does not, and nothing shows that is not known"
    ANOTHER = "it does not, but something shows that is not known"
    NO_CLONE = "it cannot be seen, since for a known reason there is no clone"
    HIDDEN = "it cannot be seen behind something known"
    UNSEEN = "it cannot be seen, since the original itself fails"
    REFUSED = "the original cannot be built"
    LOST = "the original takes its process with it"
    INEXPRESSIBLE = "the release has no words for the graph"
    NOT_TRIED = "it could not be tried"


class LookedFor(msgspec.Struct, frozen=True):
    """What came of looking for something, and why that."""

    result: LookResult
    because: str = ""


_AFTER_A_RUN = ("outputs", "masks", "training", "again")
_BEHIND = {"outputs": _AFTER_A_RUN, "weights": ("weights", *_AFTER_A_RUN)}
"""The checks that see nothing where another one ended in an exception; of those not named, only itself."""
_OF_RUNS = ("outputs", "masks")
_AS_IT_FAILS = ("no longer raises", "raises another")
"""Aspects that show only where the original itself fails."""
_BEGINNING = re.compile(r"^(original|again|twice)\.")
"""What the path of a difference begins with that is told of another model than the clone."""


class Expected(msgspec.Struct, frozen=True):
    """What is looked for: the cause of a finding, an original that ends its process, or nothing at all.

    `lost` is what ended it.
    """

    cause: Cause | None = None
    lost: str = ""

    @classmethod
    def of(cls, finding: Finding) -> Expected:
        """What a finding says. Its id is that of its cause."""
        if finding.root is not None:
            severity = min(each.severity for each in finding.differences)
            return cls(Cause(fingerprint(finding.root), finding.root, finding.differences[1:], severity))
        return cls(lost=finding.detail.partition(":")[0]) if finding.id.startswith(LOST) else cls()

    @property
    def sought(self) -> bool:
        """Whether anything is."""
        return self.cause is not None or bool(self.lost)

    @property
    def costly(self) -> bool:
        """Whether it takes the costly part of a trial to see it; where nothing is looked for, everything counts.

        What ends a process may do so in any part of a trial.
        """
        if self.lost or self._ends_a_process or not self.checks:
            return True
        return self.cause is None or any(takes_costly(each.check, each.path) for each in self.cause.differences)

    @property
    def checks(self) -> frozenset[str]:
        """The checks that may show it; none where any may."""
        return frozenset() if self.cause is None else frozenset(each.check for each in self.cause.differences)

    @property
    def roots(self) -> frozenset[str]:
        """The checks that its root may belong to."""
        return self.checks if self.cause is None else frozenset([self.cause.root.check])

    @property
    def places(self) -> tuple[tuple[str, str, str], ...]:
        """Check, path and aspect of what may be its root."""
        if self.cause is None:
            return ()
        root = self.cause.root
        return ((root.check, root.path, root.aspect),)

    @property
    def _ends_a_process(self) -> bool:
        paths = [path for _, path, _ in self.places]
        paths += [each.path for each in self.cause.followers] if self.cause is not None else []
        return any(path.startswith("process") for path in paths)

    def is_it(self, cause: Cause) -> bool:
        """Whether a cause is the one that is looked for."""
        return self.cause is not None and cause.fingerprint == self.cause.fingerprint


def look_for(expected: Expected, tried: Trial) -> LookedFor:
    """What became of what was expected."""
    if tried.not_tried:
        return LookedFor(LookResult.NOT_TRIED if tried.expressible else LookResult.INEXPRESSIBLE, tried.not_tried)
    if expected.lost and tried.built:
        return LookedFor(LookResult.GONE, "the original is built and runs")
    if not tried.built:
        return LookedFor(*_failed(expected, tried))
    if not expected.sought:
        return LookedFor(LookResult.SHOWS if tried.hits else LookResult.GONE)
    if any(map(expected.is_it, tried.causes)):
        return LookedFor(LookResult.SHOWS)
    nothing = _unseen(expected, tried.original)
    if nothing:
        return LookedFor(LookResult.UNSEEN, nothing)
    fresh = [hit.cause for hit in tried.hits if hit.cause is not None and hit.known is None]
    if fresh:
        return LookedFor(LookResult.ANOTHER, _instead(expected, fresh))
    behind = _hidden(expected, tried)
    if behind:
        return LookedFor(LookResult.HIDDEN if makes_a_clone(tried.causes) else LookResult.NO_CLONE, behind)
    left = ", ".join(dict.fromkeys(hit.known.id for hit in tried.hits if hit.known is not None))
    return LookedFor(LookResult.GONE, f"known issues remain: {left}" if left else "")


def _failed(expected: Expected, trial: Trial) -> tuple[LookResult, str]:
    if trial.lost is not None:
        other = LookResult.ANOTHER if expected.lost else LookResult.LOST
        return LookResult.SHOWS if trial.lost.how == expected.lost else other, trial.lost.said
    return LookResult.REFUSED, f"{trial.refused.type}: {trial.refused.message}" if trial.refused else "no answer"


def _instead(expected: Expected, fresh: Sequence[Cause]) -> str:
    for cause in fresh:
        if expected.cause is not None and alike(expected.cause, cause):
            frame = cause.root.raised.frame if cause.root.raised else ""
            return "the same, but raised elsewhere" + (f": {frame}" if frame else "")
    return "gone; instead: " + "; ".join(f"{title(cause)} [{cause.fingerprint}]" for cause in fresh)


def _hidden(expected: Expected, trial: Trial) -> str:
    """Why what is looked for may be there unseen; "" where it is gone."""
    nothing = _unseen(expected, trial.original)
    if nothing:
        return nothing
    for cause in trial.causes:
        for follower in cause.followers:
            if expected.is_it(Cause(fingerprint(follower), follower, severity=follower.severity)):
                return f"it shows, but as what follows from another: {title(cause)} [{cause.fingerprint}]"
    for cause in trial.causes:
        if any(_hides(each, expected) for each in cause.differences):
            return f"it cannot be seen behind another: {title(cause)} [{cause.fingerprint}]"
    return ""


def _hides(difference: Difference, expected: Expected) -> bool:
    """Whether nothing of what is looked for can be seen past a difference."""
    if difference.check == "made":
        return True
    if difference.raised is None:
        return False
    roots = expected.roots
    if roots and not roots.intersection(_BEHIND.get(difference.check, (difference.check,))):
        return False
    if expected.cause is None or expected.cause.root.check not in _OF_RUNS or difference.check != "outputs":
        return True
    # A clone that fails in training mode alone has been looked at in inference.
    return _mode(difference) == _mode(expected.cause.root)


def _mode(difference: Difference) -> str:
    return difference.path.partition(".")[0]


def _unseen(expected: Expected, original: Observation | None) -> str:
    """Why the original has nothing of what is looked for to compare a clone with; "" where it has."""
    if original is None:
        return ""
    return next(filter(None, (_missing(original, *place) for place in expected.places)), "")


def _missing(original: Observation, check: str, path: str, aspect: str) -> str:
    """What the original lacks for a difference of this kind to show; "" where it lacks nothing."""
    where = _BEGINNING.sub("", path)
    if check not in (*_AFTER_A_RUN, "untouched") or aspect in _AS_IT_FAILS:
        return ""
    if check == "training" and (not where or where.startswith("trained")):
        if original.trained is None:
            return "the original itself cannot be trained"
        failure = original.trained.failure
        return f"the original itself cannot be trained: {failure.type}" if failure else ""
    mode = next((each for each in ("inference", "training") if where.startswith(each)), "")
    if check in _OF_RUNS and not where:
        mode = "inference"
    run = {"inference": original.inference, "training": original.training}.get(mode)
    return f"the original itself fails in {mode}: {run.failure.type}" if run is not None and run.failure else ""
