"""Runs trials on one subject, and looks their causes up among the known issues.

`clonediff fuzz`, `replay`, `judge` and the property tests use this module.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from msgspec.structs import replace

from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.cloners import unsupported_cloner
from clonediff.harness.trials.triage import title
from clonediff.harness.trials.trial import LOST, Case, Key, Trial, TrialCause, run
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import LEFT_OUT, UPSTREAM_AND_FIXED, Severity
from clonediff.strategies.program import Generation, Graph, stable_hash

UPSTREAM = UPSTREAM_AND_FIXED[0]
SAMPLING_RATE = 8
"""One in this many graphs gets the costly checks: a second clone, and training."""

Costly: TypeAlias = bool | None
"""Whether a graph gets the costly checks; None: one graph in `SAMPLING_RATE` does."""


@dataclass(slots=True)
class Tally:
    """Counts of trials and their results.

    `drawn` counts trials of drawn graphs, but not those that shrink findings; `flaky` counts flaky causes. `known`
    counts graphs by known issue and its worst severity there, `worst` trials by cloner and its worst severity.
    `refused` counts graphs whose original cannot be built, `cannot_run` graphs whose original does not run.
    """

    trials: int = 0
    drawn: int = 0
    flaky: int = 0
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    worst: Counter[tuple[str, Severity]] = field(default_factory=Counter)
    known: Counter[tuple[str, Severity]] = field(default_factory=Counter)
    refused: int = 0
    cannot_run: int = 0


class GraphTrials:
    """Runs trials on one subject, with one list of known issues.

    A cause that is less severe than `at_least` does not count; if a cloner has no other, its verdict is `LEFT_OUT`.
    """

    def __init__(
        self,
        process: SubjectProcess,
        known: KnownIssues,
        *,
        cloners: Sequence[str] = UPSTREAM_AND_FIXED,
        at_least: Severity = Severity.NAME,
    ) -> None:
        self.process = process
        self.generation: Generation = process.subject.generation
        self.cloners = tuple(cloners)
        self.at_least = at_least
        self.tally = Tally()
        self._known = known

    def known(self, cloner: str) -> KnownIssues:
        """The known issues that apply to a cloner: all for upstream, none for others."""
        return self._applicable if cloner == UPSTREAM and self._known.issues else KnownIssues()

    @cached_property
    def _applicable(self) -> KnownIssues:
        return self._known.select(self.generation, self.process.ready.keras)

    def for_cloner(self, cloner: str) -> GraphTrials:
        """The same trials, with the same tally, but with only one of the cloners."""
        copied = copy.copy(self)
        copied.cloners = (cloner,) if cloner else self.cloners
        return copied

    def is_sampled(self, graph: Graph) -> bool:
        return stable_hash(graph.program) % SAMPLING_RATE == 0

    def try_if_supported(self, graph: Graph, *, costly: Costly = None) -> Trial:
        """Try a graph; if a cloner or the subject cannot, the trial says why."""
        try:
            for cloner in self.cloners:
                if reason := unsupported_cloner(cloner, self.process, graph):
                    return Trial(not_tried=reason)
            return self.try_graph(graph, costly=costly)
        except SubjectError as error:
            return Trial(not_tried=str(error))

    def try_graph(self, graph: Graph, *, costly: Costly = None) -> Trial:
        trial = self.try_case(case_of(graph), costly=self.is_sampled(graph) if costly is None else costly, graph=graph)
        worst: dict[str, Severity] = {}
        for found in trial.found:
            if found.known is not None and found.cause is not None:
                worst[found.known.id] = min(found.cause.severity, worst.get(found.known.id, Severity.NAME))
        self.tally.known.update(worst.items())
        return trial

    def find(self, key: Key, graph: Graph, *, costly: Costly) -> TrialCause | None:
        """The new cause with this key in a trial of the graph, or None."""
        causes = new_causes(self.try_graph(graph, costly=costly).found)
        return next((found for found in causes if found.key == key), None)

    def try_case(
        self, case: Case, *, costly: bool = False, graph: Graph | None = None, timeout: float | None = None
    ) -> Trial:
        """Try a case; if its source is that of a graph, `graph` is that graph."""
        trial = run(case, self.process, self.cloners, costly, timeout=timeout)
        self._count(trial)
        if trial.lost is not None:
            lost = TrialCause(LOST, "", "The original crashes its process", case, graph, detail=trial.lost.line)
            return replace(trial, found=(lost,))
        found = []
        for cloner, clone in trial.clones.items():
            for cause in clone.causes:
                if cause.severity <= self.at_least:
                    text = title(cause) + (f", with {' and '.join(case.arguments)}" if case.arguments else "")
                    known = self.known(cloner).find(cause)
                    found.append(
                        TrialCause(cause.fingerprint, cloner, text, case, graph, cause, known, pair=clone.pair)
                    )
        return replace(trial, found=tuple(found))

    def _count(self, trial: Trial) -> None:
        tally = self.tally
        tally.trials += 1
        tally.refused += trial.refused is not None
        tally.cannot_run += trial.cannot_run
        if trial.cannot_run:
            return
        for name, clone in trial.clones.items():
            worst = min((cause.severity for cause in clone.causes), default=None)
            if worst is not None and worst > self.at_least:
                tally.verdicts[name, LEFT_OUT] += 1
                continue
            tally.verdicts[name, clone.verdict.value] += 1
            if worst is not None:
                tally.worst[name, worst] += 1


def new_causes(causes: Collection[TrialCause], earlier: Collection[Key] = ()) -> list[TrialCause]:
    """The causes that are neither known issues nor `earlier` ones; upstream's are last."""
    new = [cause for cause in causes if cause.known is None and cause.key not in earlier]
    return sorted(new, key=lambda cause: cause.cloner == UPSTREAM)
