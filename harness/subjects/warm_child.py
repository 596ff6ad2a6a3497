"""A subject's child, kept warm: started, asked in lines of JSON, and replaced when it is lost or has grown.

Owns the protocol of `inside.serve` as its parent sees it, and the limits of time and memory. Knows nothing of what is
asked.
"""

from __future__ import annotations

import dataclasses
import signal
import time
from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar

import msgspec

from clonediff.harness.subjects.child import Child, ChildEnded, ChildLate, ChildTooLarge
from clonediff.harness.subjects.environment import command, environment
from clonediff.harness.subjects.observation import Failure
from clonediff.harness.subjects.outcomes import (
    Loss,
    Lost,
    NoDeviceError,
    Ready,
    SubjectError,
    fault_frames,
)
from clonediff.harness.subjects.place import BESIDE, ReleasePlace
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.records import UNREADABLE

Found = TypeVar("Found")

GIB = 1 << 30
SETTLED = 100
"""The trials after which what a child holds is what it needs."""
TIMES = 30.0
"""Making a model again takes about as long as making it did."""
_LINES_KEPT = 40


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a subject may take.

    A child is replaced, between two trials, after `trials`, past `recycle` bytes, or once it holds `growth` times what
    it held after its first `SETTLED` trials: TensorFlow keeps a little of every function that it ever traced. A cloner
    may take `cloning` seconds of the processor, or `TIMES` what its model takes, if that is more; with 0 there is no
    such limit. One that takes longer is stopped, and the child replaced.
    """

    start: float = 180.0
    trial: float = 60.0
    memory: int = 6 * GIB
    recycle: int = 3 * GIB
    trials: int = 5000
    growth: float = 1.08
    cloning: float = 8.0


_Reply: TypeAlias = dict[str, msgspec.Raw]
"""What the child says, by what was asked; each part is read by whoever asked for it."""

LOST = (ChildEnded, ChildLate, ChildTooLarge)
"""What is raised when a child was lost over what it was asked."""


class WarmChild:
    """A child of a subject that can be asked. Not for two threads at once: a thread has its own.

    `place` is where the subject's release is. `losses` counts the children that were lost, by what each was lost over,
    `recycled` those that were replaced in good health.
    """

    def __init__(
        self,
        subject: Subject,
        *,
        limits: Limits | None = None,
        place: ReleasePlace = BESIDE,
        started_by: Sequence[str] | None = None,
    ) -> None:
        """Nothing is started until it is needed; `started_by` replaces the command line, for tests."""
        self.subject = subject
        self.place = place
        self.limits = limits or Limits()
        self.losses: Counter[str] = Counter()
        self.recycled = 0
        self._command = list(started_by or command(subject))
        self._environment = environment(subject, place)
        self._child: Child | None = None
        self._ready: Ready | None = None
        self._asked = 0
        self._since_start = 0
        self._stopped = False
        self._settled = 0

    @property
    def ready(self) -> Ready:
        """What the child says of itself; starts one where none runs."""
        if self._child is None or self._ready is None:
            return self.start()
        return self._ready

    @property
    def versions(self) -> dict[str, str]:
        """What runs, by name, as it stands in every record."""
        ready = self.ready
        return {
            self.subject.package: ready.keras,
            ready.backend: ready.backend_version,
            "numpy": ready.numpy,
            "python": ready.python,
        }

    @property
    def restarts(self) -> int:
        """How many children were lost."""
        return self.losses.total()

    @property
    def pid(self) -> int | None:
        """The process now, None where there is none."""
        return self._child.pid if self._child else None

    def start(self) -> Ready:
        """Start the child, if none runs, and wait until it is ready. `seconds["spawn"]` is how long all that took."""
        if self._child is not None and self._ready is not None and self._child.running():
            return self._ready
        self.close()
        began = time.perf_counter()
        try:
            self._child = Child(self._command, self._environment)
        except OSError as error:
            raise SubjectError(f"{self.subject}: {self._command[0]} cannot be started: {error}") from error
        try:
            reply = self._read(self._child.ask(b"", self.limits.start, self.limits.memory, wanted=_is_message))
            broken, ready = self._part(reply, "broken", Failure), self._part(reply, "ready", Ready)
        except LOST as error:
            self._fail_to_start(self._child, error)
        except SubjectError:
            self._lost("its start")
            raise
        if broken is not None:
            folder = f"; to install it again, remove {self.place.path[0]}" if self.place.path else ""
            said = f"{self.subject}: does not start: {broken.type}: {broken.message}{folder}"
            raise SubjectError(said, broken, self._lost("its start"))
        if ready is None:
            raise SubjectError(
                f"{self.subject}: its first line says neither `ready` nor `broken`", None, self._lost("its start")
            )
        self._refuse_without_device(ready)
        seconds = {**ready.seconds, "spawn": time.perf_counter() - began}
        self._ready = msgspec.structs.replace(ready, seconds=seconds)
        self._since_start = 0
        self._stopped = False
        return self._ready

    def prepare(self) -> None:
        """Have the child that the next trial runs in: a new one where none runs, or where it is time for one."""
        self._replace_if_due()
        self.start()

    def resident(self) -> int:
        """The memory that the child holds, 0 where there is none."""
        return self._child.resident() if self._child else 0

    def cpu(self) -> float:
        """The seconds of the processor that the child has taken, 0 where there is none."""
        return self._child.cpu() if self._child else 0.0

    def close(self) -> None:
        """End the child, if there is one."""
        if self._child is not None:
            self._child.close()
        self._child = self._ready = None

    def __enter__(self) -> Self:
        """Start it."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self.close()

    def _ask(self, encoded: bytes, seconds: float, memory: int) -> _Reply:
        if self._child is None:
            raise ChildEnded
        number = self._asked

        def is_reply(line: bytes) -> bool:
            try:
                head = msgspec.json.decode(line, type=_Head) if line.startswith(b"{") else _Head()
            except UNREADABLE:
                return False
            return head.id == number

        return self._read(self._child.ask(encoded + b"\n", seconds, memory, is_reply))

    def _asked_for(
        self, what: str, kind: type[Found], request: dict[str, Any], timeout: float, problem: str
    ) -> Found | Lost:
        """What the child says when it is asked for that, or the `Lost` that it became over it."""
        try:
            reply = self._request(what, request, timeout)
        except LOST as error:
            return self._outcome(error, timeout, "a question to Keras")
        return self._found(reply, what, kind, problem)

    def _told(self, what: str, kind: type[Found], request: dict[str, Any], timeout: float, problem: str) -> Found:
        """The same, where there is no going on without an answer."""
        found = self._asked_for(what, kind, request, timeout, problem)
        if isinstance(found, Lost):
            raise SubjectError(f"{self.subject}: {problem}: {found.said}")
        return found

    def _of_last(self, what: str, kind: type[Found], request: dict[str, Any]) -> Found | None:
        """What the child says of its last trial; None where it is gone, or says nothing."""
        if self._child is None:
            return None
        try:
            return self._part(self._request(what, request), what, kind)
        except LOST:
            self._lost("a question to Keras")
            return None

    def _request(self, what: str, request: dict[str, Any], timeout: float = 60.0) -> _Reply:
        self._asked += 1
        encoded = msgspec.json.encode({**request, "do": what, "id": self._asked})
        return self._ask(encoded, timeout, self.limits.memory)

    def _found(self, reply: _Reply, what: str, kind: type[Found], problem: str) -> Found:
        found = self._part(reply, what, kind)
        if found is None:
            failure = self._part(reply, "error", Failure) or Failure("ProtocolError", f"no `{what}` in the reply")
            raise SubjectError(f"{self.subject}: {problem}: {failure.type}: {failure.message}", failure)
        return found

    def _part(self, reply: _Reply, what: str, kind: type[Found]) -> Found | None:
        raw = reply.get(what)
        return None if raw is None or bytes(memoryview(raw)[:5]) == b"null" else self._decoded(raw, kind, f".{what}")

    def _read(self, line: bytes) -> _Reply:
        return self._decoded(line, _Reply)

    def _decoded(self, text: bytes | msgspec.Raw, kind: type[Found], part: str = "") -> Found:
        try:
            return msgspec.json.decode(text, type=kind)
        except UNREADABLE as error:
            said = str(error).replace("at `$", f"at `${part}")
            raise SubjectError(f"{self.subject}: its reply is not what the protocol says: {said}") from error

    def _replace_if_due(self) -> None:
        if self._child is None or not self._since_start:
            return
        if not self._child.running():
            self._lost("nothing that it was asked")
        elif self._stopped or self._since_start >= self.limits.trials or self._has_grown(self._child):
            self.recycled += 1
            self.close()

    def _has_grown(self, child: Child) -> bool:
        held = child.resident()
        if self._since_start == SETTLED:
            self._settled = held
        elif self._since_start > SETTLED and held > self._settled * self.limits.growth:
            return True
        return held > self.limits.recycle

    def _outcome(self, error: Exception, seconds: float, over: str) -> Lost:
        child = self._child
        if child is None:
            return Lost(how=_how(None))
        if isinstance(error, ChildEnded):
            how = _how(child.wait(2.0))
        else:
            how = Loss.OUT_OF_MEMORY if isinstance(error, ChildTooLarge) else Loss.TIMED_OUT
        frames, lines = fault_frames(child.stderr()), self._lost(over)
        if isinstance(error, ChildTooLarge):
            message = f"{error.resident >> 20} MiB of {self.limits.memory >> 20} MiB"
        else:
            message = f"no answer in {seconds:g} s" if how == Loss.TIMED_OUT else lines[-1] if lines else ""
        return Lost(how=str(how), message=message, seconds=seconds, frames=frames, stderr=lines)

    def _lost(self, over: str) -> tuple[str, ...]:
        """Give up a child, and count it by what it was lost over; the last it wrote."""
        lines: tuple[str, ...] = ()
        if self._child is not None:
            self.losses[over] += 1
            child, self._child, self._ready = self._child, None, None
            child.close()
            lines = tuple(child.stderr().splitlines()[-_LINES_KEPT:])
        return lines

    def _fail_to_start(self, child: Child, error: Exception) -> None:
        lost = self._outcome(error, self.limits.start, "its start")
        if lost.how == Loss.TIMED_OUT:
            what = f"not ready after {self.limits.start:g} s"
        elif lost.how == Loss.OUT_OF_MEMORY:
            what = f"takes {lost.message} before its first trial"
        else:
            what = f"ended while it started ({lost.how})"
        lines = lost.stderr
        raise SubjectError(f"{self.subject}: {what}; started with {self._command[0]}", None, lines) from error

    def _refuse_without_device(self, ready: Ready) -> None:
        wanted = self.subject.device
        if wanted == "cpu" or f"{wanted}:{self.subject.number}" in ready.devices:
            return
        self.close()
        seen = ", ".join(ready.devices) or "no device"
        raise NoDeviceError(
            f"{self.subject}: {ready.backend} {ready.backend_version} sees no {wanted}:{self.subject.number} here, "
            f"only {seen}: install its build for that device and the driver, or ask for "
            f"{msgspec.structs.replace(self.subject, device='cpu', number=0)}"
        )


class _Head(msgspec.Struct):
    id: int | str | None = None


def _is_message(line: bytes) -> bool:
    # Something in the child may have kept the real standard output and written to it: that is no message.
    if not line.startswith(b"{"):
        return False
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except UNREADABLE:
        return False
    return True


def _how(code: int | None) -> str:
    """How a process ended, in a word; one that only closed its output has no code."""
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
