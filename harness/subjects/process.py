"""A subject's process: asked for one trial at a time, and for what else there is to know of its release.

Owns what can be asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.observation import Answer
from clonediff.harness.subjects.outcomes import (
    CloningFunctions,
    Lost,
    Outcome,
    Told,
    ValuesReport,
)
from clonediff.harness.subjects.place import BESIDE, ReleasePlace
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.subjects.warm_child import LOST, TIMES, Limits, WarmChild
from clonediff.strategies.kinds.of_release import Signature

TRIAL = "a trial"
"""What a process was lost over, where that is a trial: it is run again, each cloner alone."""


class SubjectProcess(WarmChild):
    """A subject that can be asked. Not for two threads at once: a thread has its own.

    `trials` counts those that were sent. `others` names the layers that are drawn beside Keras' own.
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
        super().__init__(subject, limits=limits, place=place, started_by=started_by)
        self.trials = 0
        self.others: tuple[str, ...] = ()
        self._layers: dict[tuple[str, ...], dict[str, Signature]] = {}

    def trial(
        self, case: Case, *, cloners: Iterable[str], costly: bool = False, timeout: float | None = None
    ) -> Outcome:
        """Run one trial. Whatever it does to the process is an outcome; the next one finds a new process."""
        self.prepare()
        device = None if self.subject.device == "cpu" else f"{self.subject.device}:{self.subject.number}"
        self._asked += 1
        request = {**case.request(cloners, costly, device), "id": self._asked}
        if self.limits.cloning:
            request["clone_time"] = {"least": self.limits.cloning, "times": TIMES}
        encoded = msgspec.json.encode(request)
        self.trials += 1
        self._since_start += 1
        seconds = self.limits.trial if timeout is None else timeout
        try:
            reply = self._ask(encoded, seconds, self.limits.memory)
        except LOST as error:
            return self._outcome(error, seconds, TRIAL)
        answer = self._found(reply, "answer", Answer, "refused a trial")
        self._stopped = any(clone.late is not None for clone in answer.clones.values())
        return answer

    def values(self, digests: Iterable[tuple[str, str]]) -> list[ValuesReport]:
        """How the arrays behind pairs of digests differ. The child has those of its last trial, and no others."""
        pairs = list(digests)
        found = self._of_last("values", tuple[ValuesReport, ...], {"digests": pairs}) if pairs else None
        return [ValuesReport(missing=pair) for pair in pairs] if found is None else list(found)

    def cloning(self, pieces: Sequence[dict[str, Any]] = (), timeout: float = 60.0) -> CloningFunctions | Lost:
        """The release's cloning functions; where `pieces` of a proposed fix are given, put those in their place."""
        SubjectProcess.start(self)
        request = {"pieces": list(pieces)}
        return self._asked_for("cloning", CloningFunctions, request, timeout, "does not say what clones")

    def layers(self, names: Iterable[str]) -> dict[str, Signature]:
        """What layers take that are not Keras' own; see `inside.other_layers` for their names."""
        wanted = tuple(names)
        if not wanted:
            return {}
        if wanted not in self._layers:
            self.prepare()
            request, problem = {"names": list(wanted)}, f"cannot import {', '.join(wanted)}"
            self._layers[wanted] = self._told("layers", dict[str, Signature], request, self.limits.start, problem)
        return self._layers[wanted]

    def cloner_problem(self, name: str) -> str:
        """Why a cloner of the user's own cannot be called with a model; "" where it can be. Its module is imported."""
        self.start()
        request, problem = {"name": name}, f"{name}: cannot be imported"
        return self._told("cloner", str, request, self.limits.start, problem)

    def gives(self, question: dict[str, Any], timeout: float = 30.0) -> Told:
        """What a call gives that is tried; see `inside.try_call`. One that takes the process with it is refused."""
        self.start()
        found = self._asked_for("gives", Told, {"question": question}, timeout, "cannot try a call")
        return Told(why=found.how) if isinstance(found, Lost) else found

    def refuses(self, request: dict[str, Any], timeout: float = 30.0) -> str:
        """Why a model cannot be built, nor the one that is asked for beside it; "" where they can be."""
        self.start()
        found = self._asked_for("refuses", str, request, timeout, "cannot try to build a model")
        return found.how if isinstance(found, Lost) else found
