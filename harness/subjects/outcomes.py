"""What can come of asking a subject beside an answer to a trial: how its process is lost, and what is wrong with it."""

from __future__ import annotations

import msgspec

from clonediff.harness.observation import Failure, Frame

TIMED_OUT = "timed out"
OUT_OF_MEMORY = "out of memory"
"""Why a process was lost that did not end by itself."""


class Ready(msgspec.Struct, frozen=True):
    """What a child says of itself once it can work."""

    keras: str
    backend: str
    backend_version: str
    numpy: str
    python: str
    devices: tuple[str, ...] = ()


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """A process that was lost over a request.

    `how` is `TIMED_OUT`, `OUT_OF_MEMORY`, a signal ("SIGSEGV") or an exit code ("exit code 7"), `message` how long it
    took, how large it was, or the last line that it wrote, `seconds` the limit of one that timed out. `frames` is where
    it was then, the innermost last.
    """

    how: str
    message: str = ""
    seconds: float = 0.0
    frames: tuple[Frame, ...] = ()
    stderr: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """Both, in a line."""
        return f"{self.how}: {self.message}" if self.message else self.how


class ValuesReport(msgspec.Struct, frozen=True):
    """How the arrays behind two digests differ; `missing` names those that the child no longer has."""

    missing: tuple[str, ...] = ()
    shape: tuple[tuple[int, ...], ...] = ()
    dtype: tuple[str, ...] = ()
    count: int | None = None
    max_abs: float | None = None
    first: tuple[int, ...] | None = None
    values: tuple[str, str] | None = None


class SubjectError(RuntimeError):
    """A subject that does not come up, or does not answer. `failure` is the exception with which its start ended."""

    def __init__(self, message: str, failure: Failure | None = None) -> None:
        """The message is one line: what, where, what to do."""
        super().__init__(message)
        self.failure = failure


class RequestError(SubjectError):
    """A request that the child answered with an exception: a fault of clonediff. The process goes on."""


class NoDeviceError(SubjectError):
    """A subject that works, but does not see the device that it was asked for."""


class ReleaseError(SubjectError):
    """A release that cannot be had here."""


class UnusableCodeError(ReleaseError):
    """The code itself cannot be used: that of another commit may."""
