"""What a trial costs, phase by phase, beside the harness that a user would write first, on the same graphs.

Owns which graphs are timed, and what counts. Each harness has a child of its own: `predict` traces functions, and the
child that it runs in grows until it is replaced. Starting a child is no part of a trial.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import mean
from time import perf_counter, process_time
from typing import Any

from clonediff.harness.campaign.bench_sizes import of_checks
from clonediff.harness.search.even_draws import evenly
from clonediff.harness.subjects.case import COSTLY, RATE, Case
from clonediff.harness.subjects.observation import Answer
from clonediff.harness.subjects.outcomes import Outcome
from clonediff.harness.subjects.process import Limits, SubjectProcess
from clonediff.harness.subjects.releases import open_subject, place_of
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.asking import asked
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.offers import graphs_on
from clonediff.reports.known import KnownIssues
from clonediff.strategies import FEATURES, Graph
from clonediff.strategies.asking import asking
from clonediff.strategies.graph import all_layers

LAYERS = (4, 6)
"""The graphs of the set have between these numbers of layers, those in wrappers and in inner models counted."""

BETWEEN = ("encode", "the way there and back")
"""What a trial would not cost in the process of its caller."""

EARLY = 500
"""The trial after which memory is taken the first time."""

TURNS = 3
"""What is done on few graphs, or in little time, is timed that often, and the quickest counts: others had to wait."""

_PATIENT = Limits(growth=math.inf)
"""What `predict` is held to: its child grows with each graph, and a new one would begin with nothing ready."""

Seconds = dict[str, float]


@dataclass(slots=True)
class Figures:
    """What was measured. Seconds are totals over all trials.

    `paired` is for trials of the graphs that the first harness finishes. `cpu` and `paired_cpu` are of the processor,
    of which a busy machine takes no more than a quiet one; `predict_cpu` likewise.
    """

    draws: int = 0
    draw: float = 0.0
    trials: int = 0
    total: float = 0.0
    cpu: float = 0.0
    source: float = 0.0
    keras: Seconds = field(default_factory=dict)
    ours: Seconds = field(default_factory=dict)
    checks: Seconds = field(default_factory=dict)
    paired: float = 0.0
    paired_cpu: float = 0.0
    predict: Seconds = field(default_factory=dict)
    predict_cpu: float = 0.0
    predicted: int = 0
    crashed: int = 0
    costly: list[float] = field(default_factory=list)
    early: int = 0
    late: int = 0

    def summary(self) -> dict[str, Any]:
        """The figures by name, as `--json` prints them: milliseconds a trial, and ratios."""
        trials, pairs = max(1, self.trials), max(1, self.predicted)
        draw, source = self.draw / max(1, self.draws), self.source / trials
        each = self.total / trials + source + draw
        naive = sum(self.predict.values()) / pairs
        paired = self.paired / pairs + source + draw
        # Neither harness has to draw, or to write the source, for what is compared here.
        naive_cpu, paired_cpu = self.predict_cpu / pairs, self.paired_cpu / pairs
        return {
            "trials": self.trials,
            "trial_ms": each * 1000,
            "trials_per_second": _ratio(1, each),
            "cpu_ms": self.cpu / trials * 1000,
            "draw_ms": draw * 1000,
            "share_of_drawing": _ratio(draw, each),
            "source_ms": source * 1000,
            "keras_ms": _each(self.keras, trials),
            "ours_ms": _each(self.ours, trials),
            "checks_ms": _each(self.checks, trials),
            "share_outside_keras": 1 - _ratio(sum(self.keras.values()) / trials, each),
            "added_by_process_ms": sum(self.ours.get(part, 0.0) for part in BETWEEN) / trials * 1000,
            "predict_harness_graphs": self.predicted,
            "predict_harness_crashed": self.crashed,
            "predict_harness_ms": {"trial": naive * 1000, **_each(self.predict, pairs)},
            "predict_harness_cpu_ms": naive_cpu * 1000,
            "same_graphs_trial_ms": paired * 1000,
            "same_graphs_cpu_ms": paired_cpu * 1000,
            "ratio_to_predict_harness": _ratio(naive, paired),
            "ratio_to_predict_harness_cpu": _ratio(naive_cpu, paired_cpu),
            "costly_trial_ms": mean(self.costly) * 1000 if self.costly else None,
            "resident_after_500": self.early or None,
            "resident_at_end": self.late or None,
            "resident_growth": self.late / self.early - 1 if self.early and self.late else None,
        }


def _ratio(one: float, other: float) -> float:
    return one / other if other else 0.0


def _add(totals: Seconds, seconds: Mapping[str, float]) -> None:
    for name, value in seconds.items():
        totals[name] = totals.get(name, 0.0) + value


def _each(seconds: Seconds, trials: int) -> dict[str, float]:
    return {name: seconds[name] / trials * 1000 for name in sorted(seconds, key=seconds.__getitem__, reverse=True)}


def trial_speed(
    subject: Subject,
    count: int,
    *,
    trials: int | None = None,
    seed_: int = 0,
    rate: int = RATE,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Draw a set of `count` graphs and time trials of them, once or until there were so many `trials`.

    On the first round each graph is also timed with the first harness, and afterwards one in `rate` with its costly
    parts: they trace functions too, as `predict` does.
    """
    figures = Figures()
    with contextlib.ExitStack() as scopes:
        process = scopes.enter_context(_TimedProcess(subject, place=place_of(subject)))
        other = scopes.enter_context(open_subject(subject, limits=_PATIENT))
        graphs = draw(process, count, seed_, figures)
        ready = process.ready
        scopes.enter_context(asking(asked(process)))
        trials_ = GraphTrials(process, KnownIssues())
        for place in range(len(graphs) if trials is None else trials):
            case = _case(graphs[place % len(graphs)], subject, figures)
            seconds, cpu = _trial(case, process, trials_, figures)
            if place < len(graphs):
                _add(figures.checks, of_checks(process.answer))
                _predict(case, other, figures, seconds, cpu)
            if place + 1 == EARLY:
                figures.early = process.resident()
            if place % 50 == 49:
                say(f"  {place + 1} trials")
        figures.late = process.resident() if figures.early else 0
        for graph in graphs[: figures.trials : rate] if rate else ():
            figures.costly.append(min(_costly(graph, process, trials_) for _ in range(TURNS)))
    about = {"keras": ready.keras, "backend": ready.backend, "ready_seconds": ready.seconds}
    return {"subject": str(subject), **about, **figures.summary()}


def draw(process: SubjectProcess, count: int, seed_: int, figures: Figures) -> list[Graph]:
    """A seeded set of graphs of about five layers, and what drawing cost, once Keras has answered."""
    took: list[float] = []
    for _ in range(TURNS):
        found: list[Graph] = []
        started = perf_counter()
        figures.draws = 0
        for graph in evenly(graphs_on(process, features=FEATURES), 1_000_000, seed_):
            figures.draws += 1
            if LAYERS[0] <= len(list(all_layers(graph))) <= LAYERS[1]:
                found.append(graph)
                if len(found) == count:
                    break
        took.append(perf_counter() - started)
    figures.draw = min(took)
    return found


def _costly(graph: Graph, process: _TimedProcess, trials: GraphTrials) -> float:
    process.starting = 0.0
    return trials.try_case(case_of(graph, process.subject.dialect), COSTLY).trial.seconds - process.starting


def _case(graph: Graph, subject: Subject, figures: Figures) -> Case:
    began = perf_counter()
    case = case_of(graph, subject.dialect)
    figures.source += perf_counter() - began
    return case


def _trial(case: Case, process: _TimedProcess, trials: GraphTrials, figures: Figures) -> tuple[float, float]:
    """Time a trial: its seconds, and those of the processor."""
    process.prepare()
    process.starting = 0.0
    before = process.cpu(), process_time()
    trial = trials.try_case(case).trial
    cpu = max(0.0, process.cpu() - before[0]) + process_time() - before[1]
    seconds = trial.seconds - process.starting
    figures.trials += 1
    figures.total += seconds
    figures.cpu += cpu
    _add(figures.keras, trial.keras)
    way = seconds - trial.checking - sum(trial.keras.values()) - sum(trial.ours.values())
    _add(figures.ours, {**trial.ours, "checks and causes": trial.checking, "the way there and back": max(0.0, way)})
    return seconds, cpu


def _predict(case: Case, other: SubjectProcess, figures: Figures, seconds: float, cpu: float) -> None:
    """Time the first harness on the same case, of which a trial took `seconds`, and `cpu` of the processor."""
    other.prepare()
    before = other.cpu()
    naive = other.bench(case.request(()))
    if naive["crashed"] is not None:
        figures.crashed += 1
        return
    figures.predicted += 1
    figures.paired += seconds
    figures.paired_cpu += cpu
    figures.predict_cpu += other.cpu() - before
    _add(figures.predict, {key: value for key, value in naive["seconds"].items() if key != "total"})


class _TimedProcess(SubjectProcess):
    """A subject's process that keeps its last answer, and how long it took to start children."""

    answer: Answer | None = None
    starting = 0.0

    def trial(
        self, case: Case, *, cloners: Iterable[str], checks: Iterable[str] = (), timeout: float | None = None
    ) -> Outcome:
        began = perf_counter()
        self.prepare()
        self.starting += perf_counter() - began
        outcome = super().trial(case, cloners=cloners, checks=checks, timeout=timeout)
        self.answer = outcome if isinstance(outcome, Answer) else None
        return outcome
