"""A subject's process: started, asked for one thing at a time, and replaced when it is lost or has grown."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Self, TypeAlias, TypeVar

import msgspec

from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.child import Child, ChildLost
from clonediff.harness.subjects.environment import BESIDE, Place, command, environment
from clonediff.harness.subjects.observation import Answer, Failure
from clonediff.harness.subjects.outcomes import (
    CloningFunctions,
    Draw,
    Lost,
    NoDeviceError,
    Outcome,
    Ready,
    SubjectError,
    ValuesReport,
)
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.records import UNREADABLE
from clonediff.strategies.program import Graph

Reply = TypeVar("Reply")
_Reply: TypeAlias = dict[str, msgspec.Raw]

GIB = 1 << 30
TRIAL = "a trial"
"""What a process was lost over, where that is a trial: it is run again, each cloner alone."""
DRAW = "a draw"
_QUESTION = "a question to Keras"
_TIMES = 30.0
"""Making a model again takes about as long as making it did."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a subject may take, in seconds and bytes.

    A child is replaced, between two trials, once it holds `growth` more than when it was ready: TensorFlow keeps a
    little of every function that it ever traced. A cloner may take `cloning` seconds, or `_TIMES` what its model takes,
    if that is more; with 0 there is no such limit.
    """

    start: float = 180.0
    trial: float = 60.0
    memory: int = 6 * GIB
    growth: int = GIB // 2
    cloning: float = 8.0


class SubjectProcess:
    """A subject that can be asked. Not for two threads at once: a thread has its own.

    `place` is where the subject's release is. `losses` counts the children that were lost, by what each was lost over.
    `others` names the layers that are drawn beside Keras' own.
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
        self.others: tuple[str, ...] = ()
        self._command = list(started_by or command(subject))
        self._child: Child | None = None
        self._ready: Ready | None = None
        self._largest = 0

    @property
    def ready(self) -> Ready:
        """What the child says of itself; starts one where none runs."""
        return self.start() if self._child is None or self._ready is None else self._ready

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
    def pid(self) -> int | None:
        """The process now, None where there is none."""
        return self._child.pid if self._child else None

    def start(self) -> Ready:
        """Start the child, if none runs, and wait until it is ready."""
        if self._child is not None and self._ready is not None and self._child.running():
            return self._ready
        self.close()
        try:
            self._child = Child(self._command, environment(self.subject, self.place))
        except OSError as error:
            raise SubjectError(f"{self.subject}: {self._command[0]} cannot be started: {error}") from error
        try:
            reply = self._decoded(self._child.ask(b"", self.limits.start, self.limits.memory), _Reply)
            broken, ready = self._part(reply, "broken", Failure), self._part(reply, "ready", Ready)
            if broken is not None:
                advice = f"; to install it again, remove {self.place[0]}" if self.place else ""
                reason = f"{self.subject}: does not start: {broken.type}: {broken.message}{advice}"
                raise SubjectError(reason, broken)
            if ready is None:
                raise SubjectError(f"{self.subject}: its first line says neither `ready` nor `broken`")
        except ChildLost as error:
            self._give_up("its start")
            raise SubjectError(f"{self.subject}: does not start: {error.lost.said}") from error
        except SubjectError:
            self._give_up("its start")
            raise
        self._refuse_without_device(ready)
        self._ready = ready
        self._largest = self._child.resident() + self.limits.growth
        return self._ready

    def close(self) -> None:
        """End the child, if there is one."""
        if self._child is not None:
            self._child.close()
        self._child = self._ready = None

    def __enter__(self) -> Self:
        """Start it."""
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        """End it."""
        self.close()

    def trial(
        self, case: Case, *, cloners: Iterable[str], costly: bool = False, timeout: float | None = None
    ) -> Outcome:
        """Run one trial. Whatever it does to the process is an outcome; the next one finds a new process."""
        self._replace_if_due()
        self.start()
        device = None if self.subject.device == "cpu" else f"{self.subject.device}:{self.subject.number}"
        request = case.request(cloners, costly, device)
        if self.limits.cloning:
            request["clone_seconds"] = self.limits.cloning, _TIMES
        seconds = self.limits.trial if timeout is None else timeout
        return self._ask(request, "answer", Answer, seconds, "refused a trial", over=TRIAL)

    def values(self, digests: Iterable[tuple[str, str]]) -> list[ValuesReport]:
        """How the arrays behind pairs of digests differ. The child has those of its last trial, and no others."""
        pairs = list(digests)
        request = {"do": "values", "digests": pairs}
        if self._child is not None:
            reports = self._ask(request, "values", list[ValuesReport], 60.0, "has no arrays")
            if not isinstance(reports, Lost):
                return reports
        return [ValuesReport(missing=pair) for pair in pairs]

    def cloning(self, code: str = "", timeout: float = 60.0) -> CloningFunctions | Lost:
        """The release's cloning functions; where the `code` of a proposed fix is given, put that in their place."""
        SubjectProcess.start(self)
        request = {"do": "cloning", "code": code}
        return self._ask(request, "cloning", CloningFunctions, timeout, "does not say what clones")

    def draw(self, request: dict[str, Any], timeout: float = 30.0) -> Graph | None:
        """Draw a graph; see `inside.drawing` for the request. One that takes the process with it is none."""
        self._replace_if_due()
        self.start()
        asked = {"do": "draw", "layers": self.others, **request}
        draw = self._ask(asked, "draw", Draw, timeout, "cannot draw", over=DRAW)
        return None if isinstance(draw, Lost) else draw.graph

    def cloner_problem(self, name: str) -> str:
        """Why a cloner of the user's own cannot be called with a model; "" where it can be. Its module is imported."""
        return self._answer({"do": "cloner", "name": name}, "cloner", str, f"{name}: cannot be imported")

    def _answer(self, request: dict[str, Any], part: str, kind: type[Reply], problem: str) -> Reply:
        """What the child says; a `SubjectError` where it is lost."""
        self.start()
        answer = self._ask(request, part, kind, self.limits.start, problem)
        if isinstance(answer, Lost):
            raise SubjectError(f"{self.subject}: {problem}: {answer.said}")
        return answer

    def _ask(
        self,
        request: dict[str, Any],
        part: str,
        kind: type[Reply],
        seconds: float,
        problem: str,
        *,
        over: str = _QUESTION,
    ) -> Reply | Lost:
        """That part of the reply, or how the child was lost."""
        assert self._child is not None
        line = msgspec.json.encode(request) + b"\n"
        try:
            reply = self._decoded(self._child.ask(line, seconds, self.limits.memory), _Reply)
        except ChildLost as error:
            self._give_up(over)
            return error.lost
        answer = self._part(reply, part, kind)
        if answer is None:
            failure = self._part(reply, "error", Failure) or Failure("ProtocolError", f"no `{part}` in the reply")
            raise SubjectError(f"{self.subject}: {problem}: {failure.type}: {failure.message}", failure)
        return answer

    def _part(self, reply: _Reply, part: str, kind: type[Reply]) -> Reply | None:
        return self._decoded(reply[part], kind, f".{part}") if part in reply else None

    def _decoded(self, text: bytes | msgspec.Raw, kind: type[Reply], part: str = "") -> Reply:
        try:
            return msgspec.json.decode(text, type=kind)
        except UNREADABLE as error:
            reason = str(error).replace("at `$", f"at `${part}")
            raise SubjectError(f"{self.subject}: its reply is not what the protocol says: {reason}") from error

    def _replace_if_due(self) -> None:
        """Give up a child that has died by itself; close one that has grown."""
        if self._child is None:
            return
        if not self._child.running():
            self._give_up("nothing that it was asked")
        elif self._child.resident() > self._largest:
            self.close()

    def _give_up(self, over: str) -> None:
        self.losses[over] += 1
        self.close()

    def _refuse_without_device(self, ready: Ready) -> None:
        device = f"{self.subject.device}:{self.subject.number}"
        if self.subject.device == "cpu" or device in ready.devices:
            return
        self.close()
        cpu = msgspec.structs.replace(self.subject, device="cpu", number=0)
        raise NoDeviceError(
            f"{self.subject}: {ready.backend} {ready.backend_version} sees no {device} here, "
            f"only {', '.join(ready.devices) or 'no device'}: install its build for that device and the driver, or ask "
            f"for {cpu}"
        )
