"""The journal of a worker: the trial that it is on, whole, in a file that is there before the trial is sent.

Whatever happens to either process, the graph that it happened on is not lost.
"""

from __future__ import annotations

import contextlib
import datetime
import os
from pathlib import Path

import msgspec

from clonediff.harness.subjects.case import Journaled
from clonediff.reports.records import read


def write_journal(path: Path, subject: str, worker: str, request: bytes) -> None:
    """Write down a request, in the place of the one before it."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    entry = {"format": 1, "subject": subject, "worker": worker, "written": now}
    content = msgspec.json.encode({**entry, "request": msgspec.Raw(request)})
    beside = path.with_name(f".{path.name}.new")
    try:
        try:
            beside.write_bytes(content)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(content)
        os.replace(beside, path)
    except OSError as error:  # that of a disk that is full names no file
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def clear_journal(path: Path | None) -> None:
    """Take the journal away: the trial is over."""
    if path is not None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def read_journal(path: Path) -> Journaled:
    """The trial that a worker was on when its parent was lost."""
    return read(path, Journaled)
