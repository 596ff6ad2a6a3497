"""What was found, as it is kept: a difference, the cause behind several, a finding.

Owns the shape of every record, the version of its format, and how a file is written whole and read back. Must not
import Keras, nor anything of `harness`: the records are read where no subject can run.
"""

from __future__ import annotations

import contextlib
import enum
import os
import tempfile
from pathlib import Path
from typing import Any, TypeVar

import msgspec

FORMAT = 1
"""The version of the files below; one that cannot be read any more raises it."""

T = TypeVar("T")


class Cost(enum.IntEnum):
    """What a difference costs a user, the worst first."""

    CRASHES = 0
    COMPUTES = 1
    TRAINS = 2
    PROPERTY = 3
    NAME = 4


COSTS = {
    Cost.CRASHES: "it crashes",
    Cost.COMPUTES: "it computes something else",
    Cost.TRAINS: "it trains differently",
    Cost.PROPERTY: "it loses a property",
    Cost.NAME: "it changes a name",
}


class Place(msgspec.Struct, frozen=True):
    """A layer of the original: its name (nested ones as "inner/dense") and its kind in the graph's terms.

    `layer` and `use` find it in the observation it came from (-1: the model itself); no fingerprint reads them.
    `container` says that the layer holds others.
    """

    name: str
    kind: str
    layer: int = -1
    use: int = 0
    container: bool = False


class Raised(msgspec.Struct, frozen=True):
    """An exception of a cloner: `frame` is "file:function", the innermost of the framework's or the cloner's own."""

    type: str
    message: str
    frame: str = ""


class Numbers(msgspec.Struct, frozen=True):
    """Two arrays where they differ: how much, how often, and the first element that does."""

    max_abs: float | None
    differing: int
    total: int
    index: tuple[int, ...] = ()
    expected: str = ""
    found: str = ""


class Difference(msgspec.Struct, frozen=True):
    """One broken promise. `path` says where ("layers['lambda_1'].config.mask"), `aspect` what, in stable words."""

    check: str
    path: str
    aspect: str
    expected: str
    found: str
    rank: Cost
    first: Place | None = None
    raised: Raised | None = None
    digests: tuple[str, str] | None = None
    numbers: Numbers | None = None


class Cause(msgspec.Struct, frozen=True):
    """Differences with one root: the first of them, and those that merely follow. `rank` is the worst of them all."""

    fingerprint: str
    root: Difference
    followers: tuple[Difference, ...] = ()
    rank: Cost = Cost.NAME

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The root, then what follows from it."""
        return (self.root, *self.followers)


class Finding(msgspec.Struct, frozen=True):
    """A divergence worth a person's time. `id` is its fingerprint, `graph` the smallest graph that shows it."""

    id: str
    title: str
    generation: str
    cloner: str
    graph: msgspec.Raw
    differences: tuple[Difference, ...]
    source: str
    versions: dict[str, str] = {}
    count: int = 1
    known: str | None = None
    format: int = FORMAT


class Run(msgspec.Struct, frozen=True):
    """What ran and what came of it, in one file of a run's folder."""

    started: str
    subjects: dict[str, dict[str, str]] = {}
    seed: int = 0
    trials: int = 0
    verdicts: dict[str, int] = {}
    findings: tuple[str, ...] = ()
    format: int = FORMAT


class RecordError(ValueError):
    """A file is missing or not what it should be; the message names the file and the field."""


def write(path: Path, record: Any) -> None:
    """Write a record as indented JSON, whole or not at all."""
    write_bytes(path, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")


def write_bytes(path: Path, content: bytes) -> None:
    """Write to a file beside it, then put that in its place: a reader sees the old content or the new, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
        raise


def read(path: Path, record: type[T]) -> T:
    """Read a record back; an `RecordError` names the file and the field where it is wrong."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        head = msgspec.json.decode(content, type=_Head)
        if head.format is not None and head.format > FORMAT:
            raise RecordError(
                f"{path}: format {head.format} at `$.format`, but this clonediff reads up to {FORMAT}; update it"
            )
        return msgspec.json.decode(content, type=record)
    except msgspec.DecodeError as error:
        raise RecordError(f"{path}: {error}") from error


class _Head(msgspec.Struct):
    format: int | None = None
