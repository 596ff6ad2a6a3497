"""What a trial costs, phase by phase, beside the harness that a user would write first, on the same graphs.

Owns which graphs are timed, and what counts. Each harness has a child of its own: `predict` traces functions, and the
child that it runs in grows until it is replaced. Starting a child is no part of a trial.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean
from time import perf_counter, process_time
from typing import Any

from clonediff.harness.campaign.bench_sizes import of_checks
from clonediff.harness.search.sampling import sample_graphs
from clonediff.harness.subjects.case import COSTLY, RATE, Case
from clonediff.harness.subjects.observation import Answer
from clonediff.harness.subjects.outcomes import Outcome
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import open_subject, place_of
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.subjects.warm_child import Limits
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.drawable_kinds import graphs_on
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.remembered_answers import asked
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

Seconds = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class TimedTrial:
    """The seconds of a trial by part, and those of the first harness on the same graph, `naive`, if it finished.

    `cpu` and `naive_cpu` are seconds of the processor, of which a busy machine takes no more than a quiet one.
    """

    seconds: float
    cpu: float
    source: float
    keras: Seconds
    ours: Seconds
    checks: Seconds
    naive: Seconds
    naive_cpu: float = 0.0


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
    timed: list[TimedTrial] = []
    early = 0
    with contextlib.ExitStack() as scopes:
        process = scopes.enter_context(_TimedProcess(subject, place=place_of(subject)))
        other = scopes.enter_context(open_subject(subject, limits=_PATIENT))
        graphs, drawing = _draw(process, count, seed_)
        ready = process.ready
        scopes.enter_context(asking(asked(process)))
        trials_ = GraphTrials(process, KnownIssues())
        for place in range(len(graphs) if trials is None else trials):
            first = place < len(graphs)
            timed.append(_time(graphs[place % len(graphs)], process, trials_, other if first else None))
            if place + 1 == EARLY:
                early = process.resident()
            if place % 50 == 49:
                say(f"  {place + 1} trials")
        late = process.resident() if early else 0
        some = graphs[: len(timed) : rate] if rate else ()
        costly = [min(_costly(graph, process, trials_) for _ in range(TURNS)) for graph in some]
    about = {"subject": str(subject), "keras": ready.keras, "backend": ready.backend, "ready_seconds": ready.seconds}
    memory = {
        "resident_after_500": early or None,
        "resident_at_end": late or None,
        "resident_growth": late / early - 1 if early and late else None,
    }
    costs = {"costly_trial_ms": mean(costly) * 1000 if costly else None}
    return {**about, **_summary(timed, drawing, min(len(graphs), len(timed))), **costs, **memory}


def _summary(timed: Sequence[TimedTrial], drawing: float, first: int) -> dict[str, Any]:
    """The figures by name, as `--json` prints them: milliseconds a trial, and ratios."""
    pairs = [each for each in timed if each.naive]
    source = _mean(each.source for each in timed)
    keras, ours = (_by_part([getattr(each, name) for each in timed]) for name in ("keras", "ours"))
    naive = _by_part([each.naive for each in pairs])
    trial = _mean(each.seconds for each in timed) + source + drawing
    paired = _mean(each.seconds for each in pairs) + source + drawing
    # Neither harness has to draw, or to write the source, for what is compared here.
    naive_cpu, paired_cpu = _mean(each.naive_cpu for each in pairs), _mean(each.cpu for each in pairs)
    return {
        "trials": len(timed),
        "trial_ms": trial * 1000,
        "trials_per_second": _ratio(1, trial),
        "cpu_ms": _mean(each.cpu for each in timed) * 1000,
        "draw_ms": drawing * 1000,
        "share_of_drawing": _ratio(drawing, trial),
        "source_ms": source * 1000,
        "keras_ms": keras,
        "ours_ms": ours,
        "checks_ms": _by_part([each.checks for each in timed[:first]]),
        "share_outside_keras": 1 - _ratio(sum(keras.values()) / 1000, trial),
        "added_by_process_ms": sum(ours.get(part, 0.0) for part in BETWEEN),
        "predict_harness_graphs": len(pairs),
        "predict_harness_crashed": first - len(pairs),
        "predict_harness_ms": {"trial": sum(naive.values()), **naive},
        "predict_harness_cpu_ms": naive_cpu * 1000,
        "same_graphs_trial_ms": paired * 1000,
        "same_graphs_cpu_ms": paired_cpu * 1000,
        "ratio_to_predict_harness": _ratio(sum(naive.values()) / 1000, paired),
        "ratio_to_predict_harness_cpu": _ratio(naive_cpu, paired_cpu),
    }


def _mean(values: Iterable[float]) -> float:
    return mean((*values,) or (0.0,))


def _ratio(one: float, other: float) -> float:
    return one / other if other else 0.0


def _by_part(timed: Sequence[Seconds]) -> dict[str, float]:
    """The milliseconds of each part in the mean trial, the largest first."""
    totals: dict[str, float] = {}
    for each in timed:
        for part, seconds in each.items():
            totals[part] = totals.get(part, 0.0) + seconds
    return {part: totals[part] / len(timed) * 1000 for part in sorted(totals, key=totals.__getitem__, reverse=True)}


def _draw(process: SubjectProcess, count: int, seed_: int) -> tuple[list[Graph], float]:
    """A seeded set of graphs of about five layers, and the seconds of a draw once Keras has answered."""
    took: list[float] = []
    for _ in range(TURNS):
        found: list[Graph] = []
        started = perf_counter()
        for draws, graph in enumerate(sample_graphs(graphs_on(process, features=FEATURES), 1_000_000, seed_), 1):
            if LAYERS[0] <= len(list(all_layers(graph))) <= LAYERS[1]:
                found.append(graph)
                if len(found) == count:
                    took.append((perf_counter() - started) / draws)
                    break
    return found, min(took)


def _costly(graph: Graph, process: _TimedProcess, trials: GraphTrials) -> float:
    process.starting = 0.0
    parts = tuple(part for part in COSTLY if part != "often")  # that is for few of these graphs
    return trials.try_case(case_of(graph, process.subject.dialect), parts).seconds - process.starting


def _time(graph: Graph, process: _TimedProcess, trials: GraphTrials, other: SubjectProcess | None) -> TimedTrial:
    """Time a trial of a graph; with `other`, a process of its own, the first harness and each check, too."""
    began = perf_counter()
    case = case_of(graph, process.subject.dialect)
    source = perf_counter() - began
    process.prepare()
    process.starting = 0.0
    before = process.cpu(), process_time()
    trial = trials.try_case(case)
    cpu = max(0.0, process.cpu() - before[0]) + process_time() - before[1]
    seconds = trial.seconds - process.starting
    way = seconds - trial.checking - sum(trial.keras.values()) - sum(trial.ours.values())
    ours = {**trial.ours, "checks and causes": trial.checking, "the way there and back": max(0.0, way)}
    timed = TimedTrial(seconds, cpu, source, trial.keras, ours, {}, {})
    if other is None:
        return timed
    checks = of_checks(process.answer)
    other.prepare()
    before_naive = other.cpu()
    naive = other.bench(case.request(()))
    finished = {} if naive["crashed"] is not None else {k: v for k, v in naive["seconds"].items() if k != "total"}
    return replace(timed, checks=checks, naive=finished, naive_cpu=other.cpu() - before_naive)


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
