"""The commits that a branch of a repository went by, from one to another, and what is told of each.

Owns the range `A..B`. A commit that was merged in from another branch is left out: its merge stands for it. The code of
a commit is the business of `trees`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.releases.git import cut_off, git, hold_whole, is_shallow, parting, whole_name

_SHORT = 10
_PULL = re.compile(r"\s*\(#(\d+)\)\s*$|^Merge pull request #(\d+) ")


class Commit(msgspec.Struct, frozen=True):
    """A commit. `pull` is the pull request that it came with, where its title has the number."""

    commit: str
    date: str
    title: str
    pull: int | None = None

    @property
    def short(self) -> str:
        """So much of its name as tells it from the others."""
        return self.commit[:_SHORT]

    def __str__(self) -> str:
        return self.short


class CommitRange(msgspec.Struct, frozen=True):
    """The commits of A..B in their order, and before them the one that the first of them was put upon.

    That is A, unless A is on another branch, as a release is that was mended apart: then A is `apart`.
    """

    line: tuple[Commit, ...]
    apart: Commit | None = None


def commit_range(tree: str, folder: Path, text: str) -> CommitRange:
    """The commits of a range. A `ReleaseError` says what is wrong with it."""
    start, dots, end = text.partition("..")
    if not start.strip() or not dots or end.startswith("."):
        raise ReleaseError(f"{text!r} is no range of commits: write A..B, such as v3.14.1..v3.15.0 or v3.15.0..HEAD")
    if not folder.is_dir():
        raise ReleaseError(f"{tree}: there is no folder {folder.absolute()}: name a repository of Keras 3")
    hold_whole(tree, folder)
    first, last = (whole_name(tree, folder, name.strip() or "HEAD") for name in (start, end))
    after = list(_told(tree, folder, "--first-parent", f"{first}..{last}"))[::-1]
    if not after:
        turned = (
            "" if not git(tree, folder, "rev-list", "-n1", f"{last}..{first}") else f"; write {end or 'HEAD'}..{start}"
        )
        raise ReleaseError(f"{text}: {tree} has no commit there, {start} has all of {end or 'HEAD'} in it{turned}")
    parting(tree, folder, start.strip(), end.strip() or "HEAD")
    parents = git(tree, folder, "rev-list", "--parents", "-n1", after[0].commit).decode().split()[1:]
    if not parents and is_shallow(tree, folder):
        raise cut_off(tree, folder, start.strip(), end.strip() or "HEAD")
    before = list(_told(tree, folder, "-n1", parents[0])) if parents else []
    apart = next(_told(tree, folder, "-n1", first)) if first not in parents[:1] else None
    return CommitRange((*before, *after), apart)


def _told(tree: str, folder: Path, *which: str) -> Iterator[Commit]:
    form = "--format=%H%x00%cs%x00%s%x00"
    plain = ("--no-show-signature", "--no-patch", "--no-color", "--no-notes")
    told = git(tree, folder, "log", *plain, form, *which, "--").decode(errors="replace").split("\0")
    for name, date, title in zip(told[::3], told[1::3], told[2::3], strict=False):
        match = _PULL.search(title)
        pull = int(match[1] or match[2]) if match is not None else None
        yield Commit(name.strip(), date, title, pull)
