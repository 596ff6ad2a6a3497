"""What came of checking one model on one subject, as it is printed and written."""

from __future__ import annotations

import enum

import msgspec

from clonediff.harness.answers.causes import CauseShown


class Status(enum.StrEnum):
    """How far it came."""

    CHECKED = "checked"
    NOT_LOADED = "cannot be loaded"
    NOT_CHECKED = "cannot be checked"
    NOT_CALLED = "cannot be called"
    LOST = "took its process with it"
    NO_SUBJECT = "cannot be tried"


class Cloned(msgspec.Struct, frozen=True):
    """What a cloner made of the model: its verdict, and the worst of it in the words of a user."""

    cloner: str
    verdict: str
    outcome: str = ""
    breaks: tuple[CauseShown, ...] = ()


class CheckedModel(msgspec.Struct, frozen=True):
    """A model on a subject. Where it was not checked, `reason` says why and `advice` what to do.

    `summary` says what happens to whose clone, and what to do that works. `inputs` has a line for each input that it
    was fed, `peak` the most memory that its process held, in bytes.
    """

    model: str
    subject: str
    status: Status
    versions: dict[str, str] = {}
    summary: str = ""
    kind: str = ""
    layers: int = 0
    parameters: int = 0
    inputs: tuple[str, ...] = ()
    reason: str = ""
    advice: tuple[str, ...] = ()
    clones: tuple[Cloned, ...] = ()
    seconds: float = 0.0
    peak: int = 0
    format: int = 1

    @property
    def breaks(self) -> tuple[CauseShown, ...]:
        """Everything that a cloner broke."""
        return tuple(each for cloned in self.clones for each in cloned.breaks)
