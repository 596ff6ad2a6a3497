"""The causes that a trial showed, as answers list them."""

from __future__ import annotations

import msgspec

from clonediff.harness.trials.graph_trials import NotTried, TriedGraph
from clonediff.harness.trials.triage import likeness


class CauseShown(msgspec.Struct, frozen=True):
    """A cause that showed, and the known issue that explains it."""

    fingerprint: str
    title: str
    known: str | None = None


class CauseSeen(CauseShown, frozen=True, kw_only=True):
    """A cause in one of many places. `key` is what it has in common with itself in another: no frame, no line.

    `hides` says that there was no clone, so that no other cause could show.
    """

    key: str
    hides: bool = False


def causes_shown(tried: TriedGraph | NotTried) -> tuple[CauseShown, ...]:
    """The causes of a trial; none of one that could not be run."""
    return tuple(CauseShown(each.fingerprint, each.title, each.known) for each in causes_seen(tried))


def causes_seen(tried: TriedGraph | NotTried) -> tuple[CauseSeen, ...]:
    """The same, with what they have in common with those of other places."""
    if isinstance(tried, NotTried):
        return ()
    hides = any(each.check == "made" for cause in tried.causes for each in cause.differences)
    return tuple(
        CauseSeen(
            hit.fingerprint,
            hit.title,
            hit.known.id if hit.known else None,
            key=" ".join(word for word in likeness(hit.cause.root) if word),
            hides=hides,
        )
        for hit in tried.hits
        if hit.cause is not None
    )
