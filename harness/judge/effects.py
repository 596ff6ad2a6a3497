"""What a proposed fix does to a graph, against what the untouched release makes of it.

Owns the rules: which cause is worse than before, which is new, which was there all along.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

import msgspec

from clonediff.harness.trials.triage import alike, makes_a_clone
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import Cause, Severity
from clonediff.strategies.kinds import Generation


class FixEffect(enum.StrEnum):
    """What a cause is, against what the untouched release does with the same graph; the worst first.

    Only what crashes, computes something else or trains differently is broken. What loses a property or a name has
    effects of its own, in other words.
    """

    SILENCES = "worse: it was an exception, and is silent now"
    BREAKS = "breaks what worked"
    OTHERWISE = "broken before, breaks otherwise now"
    LEAVES = "leaves broken"
    LOSES = "loses a property or a name that was kept"
    LOSES_NOW = "broken before, loses only a property or a name now"
    LEAVES_LOST = "leaves a property or a name lost"
    SHARED = "fixed breaks there as well, or Keras documents it"


COUNTED = tuple(effect for effect in FixEffect if effect is not FixEffect.SHARED)
"""The effects that speak against a candidate, the worst first."""

WORSE = (FixEffect.SILENCES, FixEffect.BREAKS, FixEffect.LOSES)
"""Those of a candidate that makes something worse than it was."""

_ONLY_LOSES = {
    FixEffect.SILENCES: FixEffect.LOSES_NOW,
    FixEffect.OTHERWISE: FixEffect.LOSES_NOW,
    FixEffect.BREAKS: FixEffect.LOSES,
    FixEffect.LEAVES: FixEffect.LEAVES_LOST,
}
"""What an effect is of a cause that only loses a property or a name."""


def loud(cause: Cause) -> bool:
    """Whether a user sees it: there is an exception, now or as soon as the clone is used, or the process is gone."""
    return cause.severity is Severity.CRASHES


class KnownBugs(msgspec.Struct, frozen=True):
    """What is known of a release: what speaks against nobody, and which bugs its own cloner has."""

    excused: KnownIssues = KnownIssues()
    upstream: KnownIssues = KnownIssues()

    @classmethod
    def of(cls, known: KnownIssues, generation: Generation, release: str) -> KnownBugs:
        """Excused is what Keras documents."""
        upstream = known.on(generation, release)
        documented = tuple(issue for issue in upstream.issues if issue.documented)
        return cls(KnownIssues(documented), upstream)


def effects(
    causes: Sequence[Cause], upstream: Sequence[Cause], fixed: Sequence[Cause], bugs: KnownBugs
) -> list[tuple[Cause, FixEffect]]:
    """Each cause of a candidate with its effect.

    Where the release raises and the candidate does not, what is still wrong is silent now. A candidate that only lets a
    known bug of the release show, which is silent wherever that makes a clone, has made nothing worse; nor has one that
    loses a property or a name where there was no clone at all. What the release breaks alike is left, unless more comes
    of it now: a mask that only stood in another place before, say, and is lost. So it is with what fixed breaks alike.
    """
    silent_now = any(map(loud, upstream)) and not any(map(loud, causes))
    nothing_worked = not makes_a_clone(upstream)

    def against_upstream(cause: Cause) -> FixEffect:
        if _alike_and_as_severe(cause, upstream):
            return FixEffect.LEAVES
        if (silent_now or nothing_worked) and bugs.upstream.of(cause) is not None:
            return FixEffect.LEAVES
        if silent_now:
            return FixEffect.SILENCES
        return FixEffect.OTHERWISE if nothing_worked else FixEffect.BREAKS

    def effect(cause: Cause) -> FixEffect:
        if bugs.excused.of(cause) is not None or _alike_and_as_severe(cause, fixed):
            return FixEffect.SHARED
        found = against_upstream(cause)
        return _ONLY_LOSES[found] if cause.severity > Severity.TRAINS else found

    return [(cause, effect(cause)) for cause in causes]


def _alike_and_as_severe(cause: Cause, others: Sequence[Cause]) -> bool:
    """Whether one of the others breaks alike, and no less comes of it."""
    return any(alike(cause, other) and other.severity <= cause.severity for other in others)
