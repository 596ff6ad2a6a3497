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
    """What a cause is, against what the untouched release does with the same graph; the worst first."""

    SILENCES = "worse: it was an exception, and is silent now"
    BREAKS = "breaks what worked"
    OTHERWISE = "broken before, breaks otherwise now"
    LEAVES = "leaves broken"
    SHARED = "fixed breaks there as well, or Keras documents it"


COUNTED = (FixEffect.SILENCES, FixEffect.BREAKS, FixEffect.OTHERWISE, FixEffect.LEAVES)
"""The effects that speak against a candidate, the worst first."""


def loud(cause: Cause) -> bool:
    """Whether a user sees it: there is an exception, now or as soon as the clone is used, or the process is gone."""
    return cause.severity is Severity.CRASHES


class KnownBugs(msgspec.Struct, frozen=True):
    """What is known of a release: what speaks against nobody, and which bugs its own cloner has."""

    excused: KnownIssues = KnownIssues()
    upstream: KnownIssues = KnownIssues()

    @classmethod
    def of(cls, known: KnownIssues, generation: Generation, release: str) -> KnownBugs:
        """Excused is what Keras documents, and what the fixed cloner is known to break as well."""
        upstream = known.on(generation, release, "upstream")
        documented = [issue for issue in upstream.issues if issue.documented]
        return cls(KnownIssues((*documented, *known.on(generation, release, "fixed").issues)), upstream)


def effects(
    causes: Sequence[Cause], upstream: Sequence[Cause], fixed: Sequence[Cause], bugs: KnownBugs
) -> list[tuple[Cause, FixEffect]]:
    """Each cause of a candidate with its effect.

    Where the release raises and the candidate does not, what is still wrong is silent now. A candidate that only lets a
    known bug of the release show, which is silent wherever that makes a clone, has made nothing worse; nor has one that
    changes a name where there was no clone at all.
    """
    silent_now = any(map(loud, upstream)) and not any(map(loud, causes))
    nothing_worked = not makes_a_clone(upstream)

    def effect(cause: Cause) -> FixEffect:
        if bugs.excused.of(cause) is not None or any(alike(cause, other) for other in fixed):
            return FixEffect.SHARED
        if any(alike(cause, other) for other in upstream):
            return FixEffect.LEAVES
        if (silent_now or nothing_worked) and bugs.upstream.of(cause) is not None:
            return FixEffect.LEAVES
        if silent_now and cause.severity is not Severity.NAME:
            return FixEffect.SILENCES
        return FixEffect.OTHERWISE if nothing_worked else FixEffect.BREAKS

    return [(cause, effect(cause)) for cause in causes]
