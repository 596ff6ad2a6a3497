"""What happens in a campaign, as it happens: frozen, and the same whoever listens.

The run's folder is written by one listener, the console by another. What a worker has answered when it started a
subject, tried known issues or made a finding smaller is told as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from clonediff.harness.campaign.shards import KnownRetried, MadeSmaller, ShardDone, SubjectStarted
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
    """A finding with its script: `first` as its graph was drawn, and again when it is smaller, or proven.

    `fresh` as above.
    """

    finding: Finding
    script: str
    fresh: bool = True
    first: bool = False


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
    | MakingSmaller
    | Unsteady
    | Found
    | MadeSmaller
    | Stopping
    | Tick
)
Listener: TypeAlias = Callable[[Event], None]
