"""The processes that judging needs: one in which a candidate stands in the place of the release's own, one untouched.

Owns that a candidate's process never answers without the candidate, also after it had to be started again. The
reference remembers its trial of a graph: every candidate is compared with the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonediff.harness.inside.failures import CANDIDATE_FILE
from clonediff.harness.subjects.observation import Failure
from clonediff.harness.subjects.outcomes import (
    CloningFunctions,
    LostProcess,
    OutOfMemory,
    Ready,
    SubjectError,
    TimedOut,
)
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.process import Limits, SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.asking import asked
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import Trial
from clonediff.reports.known import KnownIssues
from clonediff.strategies.asking import asking
from clonediff.strategies.graph import Graph, from_json, to_json

LOADING = 10.0
"""The seconds that a candidate's own lines may take to run once: they define functions."""


class NotLoadedError(RuntimeError):
    """A candidate that cannot be put in place; the message says why. That is a verdict on it."""

    @classmethod
    def of(cls, error: SubjectError) -> NotLoadedError:
        """A release that does not start, now that a diff was applied to it."""
        if error.failure is None:
            said = str(error).partition("\n")[0].partition(": ")[2]
            return cls(f"the patched release does not start: {said.partition('; started')[0]}")
        failure = error.failure
        frame = f" in {failure.frames[-1].file}, line {failure.frames[-1].line}" if failure.frames else ""
        return cls(f"the patched release does not start: {failure.type}: {failure.message}{frame}")


class CandidateProcess(SubjectProcess):
    """A subject's process in which a candidate stands in the place of the release's own functions.

    Without `pieces` the release at `place` is the candidate: a copy of it to which a diff was applied.
    """

    def __init__(
        self,
        subject: Subject,
        place: ReleasePlace,
        pieces: Sequence[dict[str, Any]],
        limits: Limits,
        loading: float = LOADING,
    ) -> None:
        """Nothing is started until it is needed."""
        super().__init__(subject, place=place, limits=limits)
        self._pieces = list(pieces)
        self._loading = loading
        self._loaded: int | None = None
        self.cloning_now: CloningFunctions | None = None

    def start(self) -> Ready:
        """Start the child, if none runs, and put the candidate in its place there."""
        ready = super().start()
        if self.pid is not None and self.pid != self._loaded:
            self.cloning_now = self._put()
            self._loaded = self.pid
        return ready

    def _put(self) -> CloningFunctions:
        outcome = self.cloning(self._pieces, self._loading)
        if not isinstance(outcome, CloningFunctions):
            raise NotLoadedError(ended(outcome))
        if outcome.failure is not None:
            failure = outcome.failure
            self.close()
            raise NotLoadedError(f"{failure.type}: {failure.message}{line_of(failure)}")
        if self._pieces and not outcome.replaced:
            self.close()
            replaced = ", ".join(outcome.functions)
            raise NotLoadedError(f"it runs, and replaces none of the release's functions ({replaced})")
        return outcome


class Reference(GraphTrials):
    """What the release's own cloner and the fixed one make of a graph; each graph is tried once."""

    def __init__(self, process: SubjectProcess) -> None:
        """`process` is the release, untouched."""
        super().__init__(process, KnownIssues(), rate=0)
        self._trials: dict[bytes, Trial] = {}

    def graphs(self) -> list[Graph]:
        """Every graph that it was asked about."""
        return [from_json(key) for key in self._trials]

    def had(self, graph: Graph) -> Trial | None:
        """The trial of a graph, if there was one."""
        return self._trials.get(to_json(graph))

    def trial(self, graph: Graph) -> Trial:
        """The trial of a graph."""
        key = to_json(graph)
        if key not in self._trials:
            with asking(asked(self.process)):
                self._trials[key] = self.try_case(case_of(graph, self.process.subject.dialect)).trial
        return self._trials[key]


def ended(outcome: LostProcess) -> str:
    """How a process was lost, in words."""
    if isinstance(outcome, TimedOut):
        return f"it does not come to an end: stopped after {outcome.seconds:g} s"
    if isinstance(outcome, OutOfMemory):
        return f"it takes memory without end: stopped at {outcome.resident >> 20} MiB"
    return f"it ends its process ({outcome.how})"


def line_of(failure: Failure) -> str:
    """Where in the candidate's file something was raised, "" where it was not there."""
    lines = [frame for frame in failure.frames if frame.file == CANDIDATE_FILE]
    if not lines:
        return ""
    return f" (line {lines[-1].line}, in {lines[-1].function})".replace(", in <module>", "")
