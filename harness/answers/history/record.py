"""What a history says, as plain data: a row for each release, and the answer."""

from __future__ import annotations

import enum

import msgspec

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.subjects.releases.commits import Commit
from clonediff.reports.records import FORMAT


class ReleaseVerdict(enum.StrEnum):
    """What is said of one release."""

    HOLDS = "holds"
    BREAKS = "breaks"
    OTHERWISE = "breaks otherwise"
    CANNOT_BUILD = "cannot build"
    CANNOT_TELL = "cannot tell"
    NOT_TO_BE_HAD = "not to be had"
    NOT_TRIED = "not tried"


CLONED = (ReleaseVerdict.HOLDS, ReleaseVerdict.BREAKS, ReleaseVerdict.OTHERWISE)
"""The verdicts of releases that had a model to clone: its causes say the rest."""
TOLD = (*CLONED, ReleaseVerdict.CANNOT_BUILD)
"""The verdicts that a release was tried for, and gave."""


class ReleaseRow(msgspec.Struct, frozen=True):
    """One release, or one commit. `reason` says why, where it is not a cause; `how` and `versions` what was used."""

    subject: str
    package: str
    version: str
    verdict: ReleaseVerdict
    causes: tuple[CauseShown, ...] = ()
    reason: str = ""
    how: str = ""
    versions: dict[str, str] = {}
    seconds: float = 0.0
    commit: Commit | None = None


class Change(msgspec.Struct, frozen=True):
    """A commit that shows something else than the last one before it of which it can be told.

    `came` and `gone` are the titles of causes. `or_one_of` are the commits between these two: of none of them it can be
    told, and each may be the one that changed it.
    """

    commit: Commit
    before: ReleaseVerdict
    after: ReleaseVerdict
    came: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    or_one_of: tuple[Commit, ...] = ()


class History(msgspec.Struct, frozen=True):
    """All of it. `asked` is what was asked about, `notes` what a reader has to know of the list of releases.

    Over commits, `rows` has those that were tried, and `changes` what they changed.
    """

    asked: str
    cloner: str
    answer: str
    rows: tuple[ReleaseRow, ...]
    by_cause: dict[str, str] = {}
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    seconds: float = 0.0
    format: int = FORMAT
