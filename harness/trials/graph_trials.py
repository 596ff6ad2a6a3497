"""Runs trials on one subject, and looks causes up among the known issues.

`clonediff fuzz`, `replay`, `judge` and the property tests use this module.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from msgspec.structs import replace

from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.cloners import support_problem
from clonediff.harness.trials.triage import title
from clonediff.harness.trials.trial import LOST_FINGERPRINT, Case, Key, Trial, TrialCause, run
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import LEFT_OUT, UPSTREAM_AND_FIXED, Severity
from clonediff.strategies.program import Generation, Graph, stable_hash

UPSTREAM = UPSTREAM_AND_FIXED[0]
SAMPLING_RATE = 8
"""By default, one graph in 8 gets the costly checks: a second clone, and training."""


@dataclass(slots=True)
class Tally:
    """Counts of trials and their results.

    `drawn` counts trials of drawn graphs, without trials that reduce graphs; `flaky` counts flaky causes. `known`
    counts graphs by known issue and worst severity, `worst` trials by cloner and worst severity. `refused` counts
    graphs whose original cannot be built, `cannot_run` graphs whose original does not run.
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
    """Runs trials on one subject, with a list of known issues.

    Causes less severe than `at_least` do not count; if a cloner has only such causes, its verdict is `LEFT_OUT`.
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
        self._known_issues = known

    def issues_of(self, cloner: str) -> KnownIssues:
        """A cloner's known issues; only upstream has any."""
        return self._upstream_issues if cloner == UPSTREAM and self._known_issues.issues else KnownIssues()

    @cached_property
    def _upstream_issues(self) -> KnownIssues:
        return self._known_issues.select(self.generation, self.process.start_message.keras)

    def select_cloner(self, cloner: str) -> GraphTrials:
        """The same trials and tally, with only one cloner."""
        trials = copy.copy(self)
        trials.cloners = (cloner,) if cloner else self.cloners
        return trials

    def is_sampled(self, graph: Graph) -> bool:
        return stable_hash(graph.program) % SAMPLING_RATE == 0

    def try_if_supported(self, graph: Graph, *, costly: bool | None = None) -> Trial:
        """Try a graph; the trial has the reason if cloner or subject is unsuitable."""
        try:
            for cloner in self.cloners:
                if reason := support_problem(cloner, self.process, graph):
                    return Trial(skip_reason=reason)
            return self.try_graph(graph, costly=costly)
        except SubjectError as error:
            return Trial(skip_reason=str(error))

    def try_graph(self, graph: Graph, *, costly: bool | None = None) -> Trial:
        trial = self.try_case(case_of(graph), costly=self.is_sampled(graph) if costly is None else costly, graph=graph)
        worst: dict[str, Severity] = {}
        for item in trial.found_causes:
            if item.known is not None and item.cause is not None:
                worst[item.known.id] = min(item.cause.severity, worst.get(item.known.id, Severity.NAME))
        self.tally.known.update(worst.items())
        return trial

    def find(self, key: Key, graph: Graph, *, costly: bool | None) -> TrialCause | None:
        """The new cause with this key in a trial of the graph, or None."""
        causes = new_causes(self.try_graph(graph, costly=costly).found_causes)
        return next((cause for cause in causes if cause.key == key), None)

    def try_case(
        self, case: Case, *, costly: bool = False, graph: Graph | None = None, timeout: float | None = None
    ) -> Trial:
        trial = run(case, self.process, self.cloners, costly, timeout=timeout)
        self._count(trial)
        if trial.lost is not None:
            text = "The original crashes its process"
            loss = TrialCause(LOST_FINGERPRINT, "", text, case, graph, detail=trial.lost.line)
            return replace(trial, found_causes=(loss,))
        causes = []
        for cloner, clone in trial.clones.items():
            for cause in clone.causes:
                if cause.severity <= self.at_least:
                    text = title(cause) + (f", with {' and '.join(case.arguments)}" if case.arguments else "")
                    known = self.issues_of(cloner).find(cause)
                    causes.append(
                        TrialCause(cause.fingerprint, cloner, text, case, graph, cause, known, pair=clone.pair)
                    )
        return replace(trial, found_causes=tuple(causes))

    def _count(self, trial: Trial) -> None:
        tally = self.tally
        tally.trials += 1
        tally.refused += trial.refusal is not None
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
    """Causes that are neither known issues nor `earlier`; upstream's are last."""
    new = [cause for cause in causes if cause.known is None and cause.key not in earlier]
    return sorted(new, key=lambda cause: cause.cloner == UPSTREAM)
