"""Trials as they were recorded: what differed in each clone, what flows where in the model, and the causes."""

from __future__ import annotations

import lzma
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from clonediff.harness.trials.checks.flow import Flow
from clonediff.reports.records import Difference

FILE = Path(__file__).with_name("trials.json.xz")


class Recorded(msgspec.Struct, frozen=True):
    """A trial of one cloner. `causes` has the root of each cause, as `said` writes it."""

    name: str
    flow: Flow
    differences: tuple[Difference, ...]
    causes: tuple[str, ...]


def said(causes: Mapping[str, Sequence[Difference]]) -> tuple[str, ...]:
    """What each cause is called, and where its root is."""
    return tuple(f"{fingerprint} at {root.path}" for fingerprint, (root, *_) in causes.items())


def read() -> list[Recorded]:
    """The recorded trials."""
    return msgspec.json.decode(lzma.decompress(FILE.read_bytes()), type=list[Recorded])


def write(trials: list[Recorded]) -> None:
    """Keep these trials in the place of the recorded ones."""
    FILE.write_bytes(lzma.compress(msgspec.json.encode(trials), preset=9))
