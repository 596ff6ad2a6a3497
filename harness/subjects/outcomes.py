"""What can come of asking a subject: an answer, or the ways in which a process is lost."""

from __future__ import annotations

import enum
import re
from typing import TypeAlias

import msgspec

from clonediff.harness.subjects.observation import Answer, Failure, Frame
from clonediff.strategies.program import Graph

_FAULT_FRAME = re.compile(r'^\s*File "(?P<file>.+)", line (?P<line>\d+) in (?P<function>.+)$', re.MULTILINE)
_FAULT_THREAD = re.compile(r"^(?:Current thread|Thread) 0x[0-9a-f]+.*?\(most recent call first\):$", re.MULTILINE)
_ROOTS = (
    re.compile(r".*/(?:site-packages|dist-packages)/"),
    re.compile(r".*/lib/python\d[.\d]*/"),
    re.compile(r".*/(?=(?:inside|fixed)/)"),
    re.compile(r".*/(?=(?:tf_keras|keras)/)"),
)


class Draw(msgspec.Struct, frozen=True):
    """A drawn graph; None where Keras accepted no call of it."""

    graph: Graph | None = None


class Ready(msgspec.Struct, frozen=True):
    """What a child says of itself once it can work."""

    generation: str
    keras: str
    backend: str
    backend_version: str
    numpy: str
    python: str
    devices: tuple[str, ...] = ()


class Loss(enum.StrEnum):
    """Why a process was lost that did not end by itself."""

    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """A process that was lost over a request.

    `how` is a `Loss`, a signal ("SIGSEGV") or an exit code ("exit code 7"), `message` how long it took, how large it
    was, or the last line that it wrote, `seconds` the limit of one that timed out. `frames` is where it was then, the
    innermost last.
    """

    how: str
    message: str = ""
    seconds: float = 0.0
    frames: tuple[Frame, ...] = ()
    stderr: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """Both, in a line."""
        return f"{self.how}: {self.message}" if self.message else self.how


class CloningFunctions(msgspec.Struct, frozen=True):
    """The cloning functions of a release: their module, its file, the folder of the package, their names.

    `replaced` has those in whose place other code has been put, `failure` what stopped that.
    """

    module: str
    file: str
    package: str
    functions: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    failure: Failure | None = None


Outcome: TypeAlias = Answer | Lost


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
    """A subject that does not come up, or that breaks the protocol. `failure` is the exception of the child."""

    def __init__(self, message: str, failure: Failure | None = None) -> None:
        """The message says what was run and what came of it."""
        super().__init__(message)
        self.failure = failure


class NoDeviceError(SubjectError):
    """A subject that works, but does not see the device that it was asked for."""


class ReleaseError(SubjectError):
    """A release that cannot be had here. The message is one line: what, where, what to do."""


class UnusableCodeError(ReleaseError):
    """The code itself cannot be used: that of another commit may."""


def fault_frames(stderr: str) -> tuple[Frame, ...]:
    """The frames that `faulthandler` wrote of the thread that serves, the innermost last; none where it wrote none."""
    starts = [match.end() for match in _FAULT_THREAD.finditer(stderr)]
    ends = [*starts[1:], len(stderr)]
    sections = [stderr[start:end] for start, end in zip(starts, ends, strict=False)]
    for section in reversed(sections):
        frames = [
            Frame(package_path(match["file"]), match["function"], int(match["line"]))
            for match in _FAULT_FRAME.finditer(section)
        ]
        if any(frame.file.startswith("inside/") for frame in frames):
            return tuple(reversed(frames))
    return ()


def package_path(path: str) -> str:
    """A path from its package's name on, as in the frames of a failure."""
    for root in _ROOTS:
        if root.match(path):
            return root.sub("", path, count=1)
    return path if path.startswith("<") else path.rsplit("/", 1)[-1]
