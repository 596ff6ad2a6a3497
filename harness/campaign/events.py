"""What happens in a campaign, told to its listeners as it happens.

The run's folder is written by one listener, the console by another. What a worker has answered when it started a
subject or made a finding smaller is told as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from clonediff.harness.campaign.shards import MadeSmaller, ShardDone, SubjectStarted
from clonediff.harness.trials.trial import Key
from clonediff.reports.records import Finding


@dataclass(frozen=True, slots=True)
class SubjectLost:
    """A subject does not work, or no longer does."""

    subject: str
    reason: str


@dataclass(frozen=True, slots=True)
class ShardEnded:
    """A shard was tried."""

    done: ShardDone


@dataclass(frozen=True, slots=True)
class ShardLost:
    """A shard cannot be tried."""

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
    """A cause was seen once and did not show again, so it is no finding. `seen` is how it was seen."""

    subject: str
    title: str
    seen: Finding | None


@dataclass(frozen=True, slots=True)
class Found:
    """A finding with its script: `first` as its graph was drawn, and again when it is smaller, or proven."""

    finding: Finding
    script: str
    first: bool = False


@dataclass(frozen=True, slots=True)
class Stopping:
    """The user stops the campaign: the tasks that run are finished, and no other is begun."""

    running: int


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passes: how much of it is left, where it is limited, and what runs."""

    left: float | None
    running: int


Event: TypeAlias = (
    SubjectStarted
    | SubjectLost
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
