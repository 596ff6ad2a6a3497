"""Recorded trials: the differences of each clone, the flow of tensors in the model, and the causes."""

from __future__ import annotations

import lzma
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from clonediff.harness.trials.checks.flow import Flow
from clonediff.reports.records import Difference

FILE = Path(__file__).with_name("trials.json.xz")


class RecordedTrial(msgspec.Struct, frozen=True):
    """A trial of one cloner; `causes` has the texts from `texts_of`."""

    name: str
    flow: Flow
    differences: tuple[Difference, ...]
    causes: tuple[str, ...]


def texts_of(causes: Mapping[str, Sequence[Difference]]) -> tuple[str, ...]:
    """Return the fingerprint of each cause with the path of its root."""
    return tuple(f"{fingerprint} at {root.path}" for fingerprint, (root, *_) in causes.items())


def read() -> list[RecordedTrial]:
    """Return the recorded trials."""
    return msgspec.json.decode(lzma.decompress(FILE.read_bytes()), type=list[RecordedTrial])


def write(trials: list[RecordedTrial]) -> None:
    """Replace the recorded trials by these."""
    FILE.write_bytes(lzma.compress(msgspec.json.encode(trials), preset=9))
