"""What a history says, as plain data: a row for each release, and the answer."""

from __future__ import annotations

import enum

import msgspec

from clonediff.harness.answers.causes import CauseShown
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
    """One release. `reason` says why, where it is not a cause; `how` and `versions` what was used."""

    subject: str
    package: str
    version: str
    verdict: ReleaseVerdict
    causes: tuple[CauseShown, ...] = ()
    reason: str = ""
    how: str = ""
    versions: dict[str, str] = {}
    seconds: float = 0.0


class History(msgspec.Struct, frozen=True):
    """All of it. `asked` is what was asked about, `notes` what a reader has to know of the list of releases."""

    asked: str
    cloner: str
    answer: str
    rows: tuple[ReleaseRow, ...]
    by_cause: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    seconds: float = 0.0
    format: int = FORMAT
