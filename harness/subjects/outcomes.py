"""Outcomes of a request other than an answer: lost processes, and errors of subjects."""

from __future__ import annotations

import msgspec

from clonediff.harness.observation import Failure, Frame

TIMED_OUT = "timed out"
OUT_OF_MEMORY = "out of memory"
"""The reasons for which a process is killed."""


class Handshake(msgspec.Struct, frozen=True):
    """The first line that a child process writes: its versions and devices."""

    keras: str
    backend: str
    backend_version: str
    numpy: str
    python: str
    devices: tuple[str, ...] = ()


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """A process that ended or was killed during a request.

    `reason` is `TIMED_OUT`, `OUT_OF_MEMORY`, a signal ("SIGSEGV") or an exit code ("exit code 7"); `message` is the
    limit that it exceeded, or the last line that it wrote. `seconds` is the time limit. `frames` is its stack, the
    innermost frame last.
    """

    reason: str
    message: str = ""
    seconds: float = 0.0
    frames: tuple[Frame, ...] = ()
    stderr: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        return f"{self.reason}: {self.message}" if self.message else self.reason


class ValuesReport(msgspec.Struct, frozen=True):
    """How the arrays of two digests differ; `missing` digests have no array."""

    missing: tuple[str, ...] = ()
    shape: tuple[tuple[int, ...], ...] = ()
    count: int | None = None
    max_abs: float | None = None
    first: tuple[int, ...] | None = None
    values: tuple[str, str] | None = None


class SubjectError(RuntimeError):
    """A subject does not start or answer. `failure` is the exception that it raised."""

    def __init__(self, message: str, failure: Failure | None = None) -> None:
        super().__init__(message)
        self.failure = failure


class RequestError(SubjectError):
    """A request raised an exception in the child: a fault of clonediff."""


class NoDeviceError(SubjectError):
    """The backend does not see the device."""


class ReleaseError(SubjectError):
    """A release is not available on this machine."""


class UnusableCodeError(ReleaseError):
    """The code of a commit, folder or wheel cannot be used; another commit's may."""
