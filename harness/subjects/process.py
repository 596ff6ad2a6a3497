"""Sends requests to a subject's child process, and restarts it if necessary."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Self, TypeVar

import msgspec

from clonediff.harness.observation import Answer, AuditedClass, Case, Failure, Request
from clonediff.harness.subjects.child import Child
from clonediff.harness.subjects.environment import DEFAULT_SEARCH_PATH, SearchPath, command_line, environment
from clonediff.harness.subjects.outcomes import Handshake, Lost, NoDeviceError, RequestError, SubjectError, ValuesReport
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.records import READ_ERRORS
from clonediff.strategies.program import Generation, Graph

T = TypeVar("T")

_CLONING_FACTOR = 30.0


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of a subject, in seconds and bytes.

    A child is replaced between two trials if it uses `growth` bytes more than at its start. A cloner may take `cloning`
    seconds, or `_CLONING_FACTOR` times the time for building the model; if `cloning` is 0, any time.
    """

    start: float = 180.0
    trial: float = 60.0
    memory: int = 6 << 30
    growth: int = 1 << 29
    cloning: float = 8.0


class _Reply(msgspec.Struct, frozen=True):
    """A child's line: `ready` is in its first, `answer` in others, `error` in any."""

    ready: Handshake | None = None
    error: Failure | None = None
    answer: msgspec.Raw = msgspec.Raw()


class _DrawAnswer(msgspec.Struct, frozen=True):
    graph: Graph | None


class SubjectProcess:
    """The process of a subject. Two threads must not use it at the same time.

    The child imports the release from `search_path`. `losses` counts lost children by request and reason, for example
    "a trial: timed out". `layers` names the user's layers to draw.
    """

    def __init__(
        self,
        subject: Subject,
        *,
        limits: Limits | None = None,
        search_path: SearchPath = DEFAULT_SEARCH_PATH,
        command: Sequence[str] | None = None,
    ) -> None:
        """`command` replaces the command line of the child, for tests."""
        self.subject = subject
        self.search_path = search_path
        self.limits = limits or Limits()
        self.losses: Counter[str] = Counter()
        self.layers: tuple[str, ...] = ()
        self._command = list(command or command_line(subject))
        self._child: Child | None = None
        self._start_message: Handshake | None = None
        self._max_memory = 0
        self._lost_draw_label = ""  # all lost draws are counted under it
        self._is_ended = False

    @property
    def start_message(self) -> Handshake:
        """The first line of the child. Start the child if necessary."""
        return self._start_message or self.start()

    @property
    def versions(self) -> dict[str, str]:
        message = self.start_message
        backend = {message.backend: message.backend_version}
        return {self.subject.generation: message.keras, **backend, "numpy": message.numpy, "python": message.python}

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child else None

    def start(self) -> Handshake:
        """Start the child, unless it runs, and wait until it is ready."""
        if self._child is not None and self._start_message is not None and self._child.is_running():
            return self._start_message
        self.close()
        self._child = Child(self._command, environment(self.subject, self.search_path))
        if self._is_ended:  # another thread has just ended it
            self.close()
            raise SubjectError(f"{self.subject}: its child process was ended while it started")
        reply = self._exchange(b"", self.limits.start, "its start")
        if isinstance(reply, Lost):
            raise SubjectError(f"{self.subject}: does not start: {reply.line}")
        if reply.ready is None:
            self.close()
            failure = reply.error or Failure("ProtocolError", "its first line has neither `ready` nor `error`")
            advice = f"; to install it again, remove {self.search_path[0]}" if self.search_path else ""
            reason = f"does not start: {failure.type}: {failure.message}{advice}"
            raise SubjectError(f"{self.subject}: {reason}", failure)
        if self.subject.device not in ("cpu", *reply.ready.devices):
            self.close()
            devices = ", ".join(reply.ready.devices) or "no device"
            cpu = msgspec.structs.replace(self.subject, device="cpu")
            raise NoDeviceError(
                f"{self.subject}: {reply.ready.backend} {reply.ready.backend_version} sees no {self.subject.device} "
                f"here, only {devices}: install its build for that device and the driver, or ask for {cpu}"
            )
        self._start_message = reply.ready
        self._max_memory = self._child.resident_bytes() + self.limits.growth
        return self._start_message

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
        self._child = self._start_message = None

    def end(self) -> None:
        """End the child permanently, from any thread. A waiting request fails."""
        self._is_ended = True
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
        """Run one trial. If the child is lost, the next request starts another."""
        self._replace_if_grown()
        device = None if self.subject.device == "cpu" else self.subject.device
        request = Request(case, tuple(cloners), costly, device, self.limits.cloning, _CLONING_FACTOR)
        message = {"do": "trial", "request": request}
        return self._ask(message, Answer, timeout or self.limits.trial, "a trial")

    def values(self, digests: Iterable[tuple[str, str]]) -> list[ValuesReport]:
        """How the last trial's arrays differ, for each pair of digests."""
        pairs = list(digests)
        request = {"do": "values", "digests": pairs}
        reports = self._ask(request, list[ValuesReport], 60.0) if self._child else None
        return reports if isinstance(reports, list) else [ValuesReport(missing=pair) for pair in pairs]

    def draw(self, request: dict[str, Any], timeout: float = 30.0) -> Graph | None:
        """Draw a graph (see `server.drawing`); None if it is refused or the child is lost."""
        self._replace_if_grown()
        request = {"layers": self.layers, **request}
        label = self._lost_draw_label or f"a draw, such as {msgspec.json.encode(request).decode()}"
        answer = self._ask({"do": "draw", **request}, _DrawAnswer, timeout, label)
        if isinstance(answer, Lost) and "program" in request:  # a step of a reduction: the child may have been killed
            answer = self._ask({"do": "draw", **request}, _DrawAnswer, timeout, label)
        if isinstance(answer, Lost):
            self._lost_draw_label = label
            return None
        return answer.graph

    def cloner_problem(self, name: str) -> str:
        """Import a user's cloner. Return why it cannot be called, or ""."""
        problem = self._ask({"do": "cloner", "name": name}, str, self.limits.start)
        return f"{name}: cannot be imported: {problem.line}" if isinstance(problem, Lost) else problem

    def classes(self, target: str) -> tuple[Generation, tuple[str, ...]] | Lost:
        """The generation of a module or file, and its classes with a config."""
        return self._ask({"do": "classes", "target": target}, tuple[Generation, tuple[str, ...]], self.limits.start)

    def audit(self, name: str) -> AuditedClass | Lost:
        """Audit a class: which constructor arguments does its config lose?"""
        self._replace_if_grown()
        return self._ask({"do": "audit", "name": name}, AuditedClass, 2 * self.limits.trial, "an audit")

    def _ask(
        self, request: dict[str, Any], type_: type[T], seconds: float, label: str = "a question to Keras"
    ) -> T | Lost:
        self.start()
        reply = self._exchange(msgspec.json.encode(request) + b"\n", seconds, label)
        if isinstance(reply, Lost):
            return reply
        if not reply.answer:
            failure = reply.error or Failure("ProtocolError", "neither `answer` nor `error` in the reply")
            location = "".join(f" (at {frame.file}:{frame.line})" for frame in failure.frames[-1:])
            reason = f"the request {request['do']!r} failed: {failure.type}: {failure.message}{location}"
            raise RequestError(f"{self.subject}: {reason}", failure)
        return self._decode(reply.answer, type_)

    def _exchange(self, line: bytes, seconds: float, label: str) -> _Reply | Lost:
        assert self._child is not None
        text = self._child.ask(line, seconds, self.limits.memory)
        if isinstance(text, Lost):
            self._count_loss(label, text.reason)
            return text
        return self._decode(text, _Reply)

    def _decode(self, text: bytes | msgspec.Raw, type_: type[T]) -> T:
        try:
            return msgspec.json.decode(text, type=type_)
        except READ_ERRORS as error:
            self.close()
            raise SubjectError(f"{self.subject}: its reply does not follow the protocol: {error}") from error

    def _replace_if_grown(self) -> None:
        """End a child that has exited or grown. The next request starts another."""
        if self._child is not None and not self._child.is_running():
            self._count_loss("no request: it ended by itself")
        elif self._child is not None and self._child.resident_bytes() > self._max_memory:
            self.close()

    def _count_loss(self, label: str, reason: str = "") -> None:
        self.losses[f"{label}: {reason}" if reason else label] += 1
        self.close()
