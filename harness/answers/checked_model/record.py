"""What came of checking one model on one subject, as it is printed and written."""

from __future__ import annotations

import datetime
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
    notes: tuple[str, ...] = ()


class NotCompared(msgspec.Struct, frozen=True):
    """Something that was not compared, and why not; of one `cloner`, or of all of them.

    What is left to `chance`, no clone is to have: it takes nothing from a faithful one.
    """

    what: str
    why: str
    cloner: str = ""
    chance: bool = False


class Accepted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A break that a project lives with: an entry of its baseline.

    `model` is the model as it is named from the folder of the file, `cause` a fingerprint or the id of a known issue,
    `cloner` who breaks it, `way` what `clone_model` is given beside the model, "" for nothing. It counts up to and with
    the day that it `expires` on, for ever where none is given.
    """

    model: str
    cause: str
    reason: str
    cloner: str = "upstream"
    way: str = ""
    expires: datetime.date | None = None


class BreakSeen(msgspec.Struct, frozen=True):
    """A break that no entry of the baseline accepts. `expired` is an entry that did."""

    cloner: str
    cause: str
    headline: str
    expired: Accepted | None = None


class BaselineSeen(msgspec.Struct, frozen=True):
    """What a project's baseline says of a model, which is named there as `model`, cloned in a `way`.

    `new` are the breaks that fail, `accepted` the entries that forgive one, `gone` those that nothing shows any more.
    `added` and `removed` are what was done to the file, where it was to be updated.
    """

    model: str
    new: tuple[BreakSeen, ...] = ()
    accepted: tuple[Accepted, ...] = ()
    gone: tuple[Accepted, ...] = ()
    added: tuple[Accepted, ...] = ()
    removed: tuple[Accepted, ...] = ()
    way: str = ""


class CheckedModel(msgspec.Struct, frozen=True):
    """A model on a subject. Where it was not checked, `reason` says why and `advice` what to do.

    `summary` says what happens to whose clone, and what to do that works; `remedies` are the cloners that were tried to
    find that out, though not asked for. `inputs` has a line for each input that it was fed, `peak` the most memory that
    its process held, in bytes. `clone_arguments` says what `clone_model` was given beside the model, and what that is
    held against. `compared` names what was compared of each clone, `not_compared` what was not. `baseline` is None
    where no baseline was given.
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
    clone_arguments: tuple[str, ...] = ()
    reason: str = ""
    advice: tuple[str, ...] = ()
    clones: tuple[Cloned, ...] = ()
    remedies: tuple[Cloned, ...] = ()
    compared: tuple[str, ...] = ()
    not_compared: tuple[NotCompared, ...] = ()
    seconds: float = 0.0
    peak: int = 0
    baseline: BaselineSeen | None = None
    format: int = 1

    @property
    def in_part(self) -> bool:
        """Whether something of the model was not compared of any clone."""
        return any(not each.cloner and not each.chance for each in self.not_compared)

    @property
    def breaks(self) -> tuple[CauseShown, ...]:
        """Everything that a cloner broke."""
        return tuple(each for cloned in self.clones for each in cloned.breaks)
