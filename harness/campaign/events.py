"""What happens in a campaign, as it happens: frozen, and the same whoever listens.

The run's folder is written by one listener, the console by another. That a subject works, and which known issues still
break on it, is told as the worker has answered it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from clonediff.harness.campaign.shards import KnownRetried, ShardDone, SubjectStarted
from clonediff.harness.trials.graph_trials import Key
from clonediff.reports.records import Finding


@dataclass(frozen=True, slots=True)
class SubjectLost:
    """A subject cannot be had, or not any more."""

    subject: str
    reason: str


@dataclass(frozen=True, slots=True)
class ShardEnded:
    """A shard was tried. `fresh` is False where it had been told before the campaign was stopped."""

    done: ShardDone
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class ShardLost:
    """A shard took its worker with it each time."""

    subject: str
    turn: int
    reason: str


@dataclass(frozen=True, slots=True)
class NewCause:
    """A cause was seen for the first time; the graph of the finding is as it was drawn. `fresh` as above."""

    finding: Finding
    script: str
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class MakingSmaller:
    """A cause is being made smaller, or is not any more."""

    subject: str
    key: Key
    title: str
    begins: bool


@dataclass(frozen=True, slots=True)
class Unsteady:
    """A cause was seen and did not show again: no hit is made of it. `seen` is how it was seen."""

    subject: str
    title: str
    seen: Finding | None


@dataclass(frozen=True, slots=True)
class Found:
    """A finding that is smaller than it was seen, or proven, with its script. `fresh` as above."""

    finding: Finding
    script: str
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What a piece of making a finding smaller took, whatever came of it."""

    subject: str
    trials: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Stopping:
    """The user has had enough: what runs is finished, and nothing else is begun."""

    running: int


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passes: how much of it is left, where it is limited, and what runs."""

    left: float | None
    running: int


Event: TypeAlias = (
    SubjectStarted
    | SubjectLost
    | KnownRetried
    | ShardEnded
    | ShardLost
    | NewCause
    | MakingSmaller
    | Unsteady
    | Found
    | Shrunk
    | Stopping
    | Tick
)
Listener: TypeAlias = Callable[[Event], None]
