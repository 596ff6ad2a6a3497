"""Which of the releases that are asked for are tried, and the table of what they showed.

A fix, and a regression, is carried to the branches that are still alive. Along all releases a bug comes and goes, so
that a bisection over them would lie; within the releases of one minor version it does so once, as a rule. So each
branch is bisected by itself. What is left out stands between two of its branch that are alike, and is told so.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import groupby
from typing import TypeAlias

from packaging.version import Version

from clonediff.harness.answers.history.bisection import Bisection
from clonediff.harness.answers.history.record import TOLD, ReleaseRow, ReleaseVerdict
from clonediff.harness.answers.history.releases_option import ReleaseLine
from clonediff.harness.subjects.subject import Subject

FEW = 16
"""So many releases of a package are all tried."""

ReleaseSurvey: TypeAlias = Bisection[Subject, ReleaseRow]


def survey(lines: Sequence[ReleaseLine], *, all_: bool = False, sought: bool = False) -> ReleaseSurvey:
    """The releases to try: `all_`, or those that tell.

    `sought` says that one cause is looked for, so that what shows beside it is no difference between two releases.
    """
    rows = [list(map(line.at, branch)) for line in lines for branch in branches(line.asked)]
    must = {
        line.at(version) for line in lines for version in (line.asked if all_ or len(line.asked) <= FEW else line.named)
    }
    return Bisection(rows, lambda row: compared_by(row, sought), must)


def branches(versions: Sequence[str]) -> list[list[str]]:
    """Versions in their order, by their minor version."""
    return [list(group) for _, group in groupby(versions, key=branch)]


def branch(version: str) -> tuple[int, int]:
    """The minor version that a version belongs to."""
    at = Version(version)
    return at.major, at.minor


def compared_by(row: ReleaseRow, sought: bool) -> Hashable:
    """What a row is compared by with those beside it; None where the release could not be tried."""
    if row.verdict not in TOLD:
        return None
    if row.verdict is ReleaseVerdict.OTHERWISE or (row.verdict is ReleaseVerdict.BREAKS and not sought):
        return row.verdict, tuple(sorted({each.key for each in row.causes}))
    return row.verdict


def table(lines: Sequence[ReleaseLine], tried: ReleaseSurvey) -> list[tuple[ReleaseLine, list[ReleaseRow]]]:
    """Every release that was asked for, in order, with its row or one that says why it has none."""
    left_out = tried.left_out()

    def row_of(subject: Subject) -> ReleaseRow:
        if subject in tried.answers:
            return tried.answers[subject]
        ends = " and ".join(each.version or "" for each in left_out.get(subject, ()))
        reason = f"between {ends}, which are alike" if ends else "interrupted"
        return ReleaseRow(str(subject), subject.package, subject.version or "", ReleaseVerdict.NOT_TRIED, reason=reason)

    return [(line, [row_of(line.at(version)) for version in line.asked]) for line in lines]
