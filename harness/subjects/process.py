"""A subject's process: started, asked for one thing at a time, and replaced when it is lost or has grown."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Self, TypeVar

import msgspec

from clonediff.harness.observation import Answer, Case, ClassAudited, Failure, Request
from clonediff.harness.subjects.child import Child
from clonediff.harness.subjects.environment import BESIDE, Place, command, environment
from clonediff.harness.subjects.outcomes import Lost, NoDeviceError, Ready, RequestError, SubjectError, ValuesReport
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.records import UNREADABLE
from clonediff.strategies.program import Generation, Graph

T = TypeVar("T")

GIB = 1 << 30
_TIMES = 30.0
"""A cloner may take this many times what its model took, since a clone takes about as long to make."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a subject may take, in seconds and bytes.

    A child is replaced, between two trials, once it holds `growth` more than when it was ready: TensorFlow keeps a
    little of every function that it ever traced. A cloner may take `cloning` seconds or, if that is more, `_TIMES` as
    long as its model took. If `cloning` is 0, cloners have no limit of their own.
    """

    start: float = 180.0
    trial: float = 60.0
    memory: int = 6 * GIB
    growth: int = GIB // 2
    cloning: float = 8.0


class _Reply(msgspec.Struct, frozen=True):
    """A line of a child: `ready` or `broken` is its first; later the answer to a request, or why there is none."""

    ready: Ready | None = None
    broken: Failure | None = None
    error: Failure | None = None
    answer: msgspec.Raw = msgspec.Raw()


class _Drawn(msgspec.Struct, frozen=True):
    graph: Graph | None


class SubjectProcess:
    """A subject that can be asked. Not for two threads at once: a thread has its own.

    `place` is where the subject's release is. `losses` counts the children that were lost, by what each was
    doing and how it ended: "a trial: timed out". `layers` names those that are drawn beside Keras' own.
    """

    def __init__(
        self,
        subject: Subject,
        *,
        limits: Limits | None = None,
        place: Place = BESIDE,
        started_by: Sequence[str] | None = None,
    ) -> None:
        """Nothing is started until it is needed; `started_by` replaces the command line, for tests."""
        self.subject = subject
        self.place = place
        self.limits = limits or Limits()
        self.losses: Counter[str] = Counter()
        self.layers: tuple[str, ...] = ()
        self._command = list(started_by or command(subject))
        self._child: Child | None = None
        self._ready: Ready | None = None
        self._most_memory = 0
        self._lost_draw = ""  # under the first draw that is lost, all later ones are counted, too
        self._over = False

    @property
    def ready(self) -> Ready:
        """What the child says of itself; starts one where none runs."""
        return self._ready or self.start()

    @property
    def versions(self) -> dict[str, str]:
        """What runs, by name, as it stands in every record."""
        ready = self.ready
        backend = {ready.backend: ready.backend_version}
        return {self.subject.generation: ready.keras, **backend, "numpy": ready.numpy, "python": ready.python}

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child else None

    def start(self) -> Ready:
        """Start the child, if none runs, and wait until it is ready."""
        if self._child is not None and self._ready is not None and self._child.running():
            return self._ready
        self.close()
        self._child = Child(self._command, environment(self.subject, self.place))
        if self._over:  # perhaps since a moment ago
            self.close()
            raise SubjectError(f"{self.subject}: no longer asked")
        reply = self._exchange(b"", self.limits.start, "its start")
        if isinstance(reply, Lost):
            raise SubjectError(f"{self.subject}: does not start: {reply.line}")
        if reply.ready is None:
            self.close()
            failure = reply.broken or Failure("ProtocolError", "its first line says neither `ready` nor `broken`")
            advice = f"; to install it again, remove {self.place[0]}" if self.place else ""
            reason = f"does not start: {failure.type}: {failure.message}{advice}"
            raise SubjectError(f"{self.subject}: {reason}", failure)
        if self.subject.device not in ("cpu", *reply.ready.devices):
            self.close()
            seen = ", ".join(reply.ready.devices) or "no device"
            cpu = msgspec.structs.replace(self.subject, device="cpu")
            raise NoDeviceError(
                f"{self.subject}: {reply.ready.backend} {reply.ready.backend_version} sees no {self.subject.device} "
                f"here, only {seen}: install its build for that device and the driver, or ask for {cpu}"
            )
        self._ready = reply.ready
        self._most_memory = self._child.resident() + self.limits.growth
        return self._ready

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
        self._child = self._ready = None

    def end(self) -> None:
        """End the child for good, from any thread: a request that waits for it fails."""
        self._over = True
        if (child := self._child) is not None:
            child.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def trial(
        self, case: Case, *, cloners: Iterable[str], costly: bool = False, timeout: float | None = None
    ) -> Answer | Lost:
        """Run one trial. Whatever it does to the process is an outcome; the next one finds a new process."""
        self._renew()
        device = None if self.subject.device == "cpu" else self.subject.device
        request = Request(case, tuple(cloners), costly, device, (self.limits.cloning, _TIMES))
        asked = {"do": "trial", "request": request}
        return self._ask(asked, Answer, timeout or self.limits.trial, "a trial")

    def values(self, digests: Iterable[tuple[str, str]]) -> list[ValuesReport]:
        """How the arrays behind pairs of digests differ. The child has those of its last trial, and no others."""
        pairs = list(digests)
        request = {"do": "values", "digests": pairs}
        reports = self._ask(request, list[ValuesReport], 60.0) if self._child else None
        return reports if isinstance(reports, list) else [ValuesReport(missing=pair) for pair in pairs]

    def draw(self, request: dict[str, Any], timeout: float = 30.0) -> Graph | None:
        """Draw a graph; see `server.drawing` for the request. None if the draw ends the process, or gives no model."""
        self._renew()
        request = {"layers": self.layers, **request}
        over = self._lost_draw or f"a draw, such as {msgspec.json.encode(request).decode()}"
        drawn = self._ask({"do": "draw", **request}, _Drawn, timeout, over)
        if isinstance(drawn, Lost):
            self._lost_draw = over
            return None
        return drawn.graph

    def cloner_problem(self, name: str) -> str:
        """Why a cloner of the user's own cannot be called with a model; "" where it can be. Its module is imported."""
        problem = self._ask({"do": "cloner", "name": name}, str, self.limits.start)
        return f"{name}: cannot be imported: {problem.line}" if isinstance(problem, Lost) else problem

    def classes(self, target: str) -> tuple[Generation, tuple[str, ...]] | Lost:
        """The classes with a config of a package, a module, a file or a name in one, which is imported."""
        return self._ask({"do": "classes", "target": target}, tuple[Generation, tuple[str, ...]], self.limits.start)

    def audit(self, name: str) -> ClassAudited | Lost:
        """Whether the config of a class keeps what it is made with."""
        self._renew()
        return self._ask({"do": "audit", "name": name}, ClassAudited, 2 * self.limits.trial, "an audit")

    def _ask(
        self, request: dict[str, Any], type_: type[T], seconds: float, over: str = "a question to Keras"
    ) -> T | Lost:
        """The answer to a request, or how the child was lost; one is started where none runs."""
        self.start()
        reply = self._exchange(msgspec.json.encode(request) + b"\n", seconds, over)
        if isinstance(reply, Lost):
            return reply
        if not reply.answer:
            failure = reply.error or Failure("ProtocolError", "neither `answer` nor `error` in the reply")
            at = "".join(f" (at {frame.file}:{frame.line})" for frame in failure.frames[-1:])
            reason = f"the request {request['do']!r} failed: {failure.type}: {failure.message}{at}"
            raise RequestError(f"{self.subject}: {reason}", failure)
        return self._decoded(reply.answer, type_)

    def _exchange(self, line: bytes, seconds: float, over: str) -> _Reply | Lost:
        assert self._child is not None
        text = self._child.ask(line, seconds, self.limits.memory)
        if isinstance(text, Lost):
            self._count_loss(over, text.how)
            return text
        return self._decoded(text, _Reply)

    def _decoded(self, text: bytes | msgspec.Raw, type_: type[T]) -> T:
        try:
            return msgspec.json.decode(text, type=type_)
        except UNREADABLE as error:
            self.close()
            raise SubjectError(f"{self.subject}: its reply is not what the protocol says: {error}") from error

    def _renew(self) -> None:
        """End a child that has died by itself or has grown: the next request starts another."""
        if self._child is not None and not self._child.running():
            self._count_loss("no request: it ended by itself")
        elif self._child is not None and self._child.resident() > self._most_memory:
            self.close()

    def _count_loss(self, over: str, how: str = "") -> None:
        self.losses[f"{over}: {how}" if how else over] += 1
        self.close()
