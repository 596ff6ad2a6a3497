"""Which releases are tried: the ends of every branch, and within it as many as it takes to see where they differ.

A fix, and a regression, is carried to the branches that are still alive. Along all releases a bug comes and goes, so
that a bisection over them would lie; within the releases of one minor version it does so once, as a rule. What is left
out stands between two of its branch that are alike, and is told as not tried. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from packaging.version import Version

FEW = 16
"""So many releases of a package are all tried."""

Seen = Mapping[str, Hashable]
"""What each release showed that was tried; None for one that could not be."""


def branches(versions: Sequence[str]) -> list[list[str]]:
    """Versions in their order, by their minor version."""
    return [list(group) for _, group in groupby(versions, key=branch)]


def branch(version: str) -> tuple[int, int]:
    """The minor version that a version belongs to."""
    at = Version(version)
    return at.major, at.minor


def to_try(versions: Sequence[str], seen: Seen, must: Collection[str] = ()) -> list[str]:
    """The releases to try now, as far as is known from those that were tried; none where that is enough.

    `must` are tried whatever the others show.
    """
    wanted = {version for version in versions if version in must and version not in seen}
    for group in branches(versions):
        wanted.update(_in_branch(group, seen))
    return [version for version in versions if version in wanted]


def _in_branch(group: Sequence[str], seen: Seen) -> Iterator[str]:
    # One that could not be tried says nothing: the next to it stands at the end instead.
    had = [version for version in group if version not in seen or seen[version] is not None]
    for end in (had[:1], had[-1:]):
        yield from (version for version in end if version not in seen)
    tried = [place for place, version in enumerate(had) if version in seen]
    for left, right in pairwise(tried):
        if right - left > 1 and seen[had[left]] != seen[had[right]]:
            yield had[(left + right) // 2]
