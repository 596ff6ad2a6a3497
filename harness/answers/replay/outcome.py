"""What a replay says of what came of looking for something. Pure data.

STILL BROKEN: the cause shows, by its fingerprint; of a known issue, a cause that the issue explains. FIXED: it does
not, and the cloner is faithful but for known issues. CHANGED: it does not, but something else shows that is not known;
or it cannot show, because something known stands before it: there is no clone to look at, say. ERROR: it could not be
tried. Of a bare graph nothing is expected: STILL BROKEN where the clone is not faithful, known or not, else HOLDS.
"""

from __future__ import annotations

import enum

import msgspec

from clonediff.harness.trials.expected import Expected, LookResult, look_for
from clonediff.harness.trials.graph_trials import NotTried, TriedGraph


class ReplayOutcome(enum.StrEnum):
    """The answer of a replay."""

    FIXED = "FIXED"
    HOLDS = "HOLDS"
    BROKEN = "STILL BROKEN"
    CHANGED = "CHANGED"
    ERROR = "ERROR"


_OUTCOMES = {
    LookResult.SHOWS: ReplayOutcome.BROKEN,
    LookResult.GONE: ReplayOutcome.FIXED,
    LookResult.ANOTHER: ReplayOutcome.CHANGED,
    LookResult.NO_CLONE: ReplayOutcome.CHANGED,
    LookResult.HIDDEN: ReplayOutcome.CHANGED,
}
"""All others are errors."""


class CauseShown(msgspec.Struct, frozen=True):
    """A cause that showed, and the known issue that explains it."""

    fingerprint: str
    title: str
    known: str | None = None


class Replayed(msgspec.Struct, frozen=True):
    """The answer, why it is that one, and every cause that showed."""

    outcome: ReplayOutcome
    because: str = ""
    shown: tuple[CauseShown, ...] = ()


def replayed(expected: Expected, tried: TriedGraph | NotTried) -> Replayed:
    """What a replay says: of what its one cloner did, or of what differs across two subjects."""
    result, because = msgspec.structs.astuple(look_for(expected, tried))
    outcome = _OUTCOMES.get(result, ReplayOutcome.ERROR)
    if isinstance(tried, NotTried):
        return Replayed(outcome, because)
    if not tried.trial.built:
        how = "cannot be built" if tried.trial.refused is not None else "takes its process with it"
        return Replayed(outcome, f"the original {how}: {because}")
    if outcome is ReplayOutcome.FIXED and not expected.sought:
        outcome = ReplayOutcome.HOLDS
    shown = tuple(
        CauseShown(each.fingerprint, each.title, each.known.id if each.known else None)
        for each in tried.hits
        if each.cause is not None
    )
    return Replayed(outcome, because, shown)
