"""`clonediff bench`: what a trial costs, phase by phase, and how that compares.

Draws one seeded set of graphs of about five layers, runs the trial on each as the property tests do, and on the same
graphs, in the same process, the harness that a user would write first. Owns the figures and how they are printed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import mean
from time import perf_counter
from typing import Any

import click
from hypothesis import Phase, given, seed, settings

from harness.subjects.case import Case
from harness.subjects.observation import Answer
from harness.subjects.outcomes import Outcome, ValuesReport
from harness.subjects.process import SubjectProcess
from harness.subjects.releases import open_subject
from harness.subjects.subject import Subject
from harness.trials.cases import case_of
from harness.trials.checks import CHECKS, compare
from harness.trials.graph_trials import COSTLY
from harness.trials.trial import run
from strategies import Graph, functional_graphs
from strategies.graph import Made, Seq, Value
from strategies.kinds import Generation

LAYERS = (4, 6)
"""The graphs of the set have between these numbers of layers, those in wrappers and in inner models counted."""

BETWEEN = ("encode", "the way there and back")
"""What a trial would not cost in the process of its caller."""

EARLY = 500
"""The trial after which memory is taken the first time."""


Seconds = dict[str, float]


@dataclass(slots=True)
class Figures:
    """What was measured. Seconds are totals over all trials."""

    draws: int = 0
    draw: float = 0.0
    trials: int = 0
    total: float = 0.0
    source: float = 0.0
    keras: Seconds = field(default_factory=dict)
    ours: Seconds = field(default_factory=dict)
    checks: Seconds = field(default_factory=dict)
    paired: float = 0.0
    predict: Seconds = field(default_factory=dict)
    predicted: int = 0
    crashed: int = 0
    costly: list[float] = field(default_factory=list)
    early: int = 0
    late: int = 0

    @property
    def per_draw(self) -> float:
        return self.draw / max(1, self.draws)

    def summary(self) -> dict[str, Any]:
        """The figures by name, as `--json` prints them: milliseconds a trial, and ratios."""
        trials = max(1, self.trials)
        each = (self.total + self.source) / trials + self.per_draw
        keras = sum(self.keras.values()) / trials
        naive = sum(self.predict.values()) / max(1, self.predicted)
        paired = self.paired / max(1, self.predicted) + self.per_draw
        return {
            "trials": self.trials,
            "trial_ms": each * 1000,
            "trials_per_second": 1 / each if each else 0.0,
            "draw_ms": self.per_draw * 1000,
            "share_of_drawing": self.per_draw / each if each else 0.0,
            "source_ms": self.source / trials * 1000,
            "keras_ms": _each(self.keras, trials),
            "ours_ms": _each(self.ours, trials),
            "checks_ms": _each(self.checks, trials),
            "share_outside_keras": 1 - keras / each if each else 0.0,
            "added_by_process_ms": sum(self.ours.get(part, 0.0) for part in BETWEEN) / trials * 1000,
            "predict_harness_graphs": self.predicted,
            "predict_harness_crashed": self.crashed,
            "predict_harness_ms": {"trial": naive * 1000, **_each(self.predict, max(1, self.predicted))},
            "same_graphs_trial_ms": paired * 1000,
            "ratio_to_predict_harness": naive / paired if paired and self.predicted else 0.0,
            "costly_trial_ms": mean(self.costly) * 1000 if self.costly else None,
            "resident_after_500": self.early or None,
            "resident_at_end": self.late or None,
            "resident_growth": self.late / self.early - 1 if self.early and self.late else None,
        }


def _book(book: Seconds, seconds: Mapping[str, float]) -> None:
    for name, value in seconds.items():
        book[name] = book.get(name, 0.0) + value


def _each(seconds: Seconds, trials: int) -> dict[str, float]:
    return {name: seconds[name] / trials * 1000 for name in sorted(seconds, key=seconds.__getitem__, reverse=True)}


class _Recorder:
    """A subject's process that keeps its last answer, so that checks can be timed one by one afterwards."""

    def __init__(self, process: SubjectProcess) -> None:
        self._process = process
        self.answer: Answer | None = None

    def trial(
        self, case: Case, *, cloners: Iterable[str], checks: Iterable[str] = (), timeout: float | None = None
    ) -> Outcome:
        outcome = self._process.trial(case, cloners=cloners, checks=checks, timeout=timeout)
        self.answer = outcome if isinstance(outcome, Answer) else None
        return outcome

    def values(self, digests: Iterable[tuple[str, str]]) -> list[ValuesReport]:
        return self._process.values(digests)


@click.command("bench")
@click.option("--subject", default="keras", show_default=True, help="What to time: keras, tf_keras, keras/jax ...")
@click.option(
    "--graphs", "count", type=click.IntRange(min=1), default=150, show_default=True, help="How many graphs the set has."
)
@click.option(
    "--trials", type=click.IntRange(min=1), default=None, help="Trials to run, over the set again and again [once]."
)
@click.option("--seed", "seed_", default=0, show_default=True, help="The seed of the set.")
@click.option(
    "--rate",
    type=click.IntRange(min=0),
    default=8,
    show_default=True,
    help="Time the costly checks on one graph in N; 0 for none.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=2),
    default=None,
    help="Time campaigns instead: of one job, and of this many, beside trials with nothing around them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    subject: str, count: int, trials: int | None, seed_: int, rate: int, jobs: int | None, as_json: bool
) -> None:
    """Time a trial, phase by phase, beside the harness that one would write first.

    Building, cloning, calling, reading configs and setting weights are Keras' own code; all else is ours. The first
    harness builds, clones, copies the weights, calls `predict` on both and compares with `allclose`; its time is held
    against ours on the graphs that it can finish.
    """
    if jobs is not None:
        _campaigns(subject, jobs, trials, as_json)
        return
    figures = Figures()
    chosen = Subject.parse(subject)
    generation = chosen.generation
    graphs = draw(generation, count, seed_, figures)
    with open_subject(chosen) as process:
        ready = process.start()
        for place in range(len(graphs) if trials is None else trials):
            _one(graphs[place % len(graphs)], generation, process, figures, place, rate, first=place < len(graphs))
            if not as_json and place % 50 == 49:
                click.echo(f"  {place + 1} trials", err=True)
        figures.late = process.resident() if figures.early else 0
    about = {"subject": subject, "keras": ready.keras, "backend": ready.backend, "ready_seconds": ready.seconds}
    summary = {**about, **figures.summary()}
    click.echo(json.dumps(summary, indent=2) if as_json else _table(summary))


def _campaigns(subject: str, jobs: int, trials: int | None, as_json: bool) -> None:
    from harness.campaign.speed import DEFAULT, fewest, speed

    least = fewest(jobs)
    if trials is not None and trials < least:
        raise click.BadParameter(f"with {jobs} jobs, expected at least {least}, found {trials}", param_hint="--trials")
    found = speed(subject, jobs, trials or max(DEFAULT, least), lambda line: click.echo(line, err=True))
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    click.echo(f"a campaign of one job makes {found['one_job_of_plain']:.2f} of the trials a second of plain trials,")
    click.echo(f"one of {jobs} jobs {found['jobs_of_one_job']:.2f} times those of one job,")
    click.echo(f"which is {found['jobs_of_plain_times_jobs']:.2f} of {jobs} times plain trials")


def draw(generation: Generation, count: int, seed_: int, figures: Figures) -> list[Graph]:
    """A seeded set of graphs of about five layers, and what drawing cost."""
    found: dict[Graph, None] = {}

    def keep(graph: Graph) -> None:
        figures.draws += 1
        if LAYERS[0] <= layers(graph) <= LAYERS[1]:
            found.setdefault(graph)

    started, turn = perf_counter(), 0
    while len(found) < count:
        options = settings(max_examples=500, database=None, deadline=None, phases=(Phase.generate,))
        seed(seed_ * 1000 + turn)(options(given(functional_graphs(generation=generation))(keep)))()
        turn += 1
    figures.draw = perf_counter() - started
    return list(found)[:count]


def layers(graph: Graph) -> int:
    """The layers of a graph, those in wrappers and in inner models among them."""
    count = len(graph.layers)
    for layer in graph.layers:
        count += sum(_made(value) for _, value in layer.args)
        count += layers(layer.graph) if layer.graph is not None else 0
    return count


def _made(value: Value) -> int:
    if isinstance(value, Seq):
        return sum(_made(item) for item in value.items)
    return 1 + sum(_made(inner) for _, inner in value.layer.args) if isinstance(value, Made) else 0


def _one(
    graph: Graph, generation: Generation, process: SubjectProcess, figures: Figures, place: int, rate: int, first: bool
) -> None:
    started = perf_counter()
    case = case_of(graph, process.subject.dialect)
    figures.source += perf_counter() - started
    # In turns: whichever comes second finds the backend's kernels ready.
    naive_first = place % 2 == 0
    naive = process.bench(case.request(())) if first and naive_first else None
    recorder = _Recorder(process)
    trial = run(case, recorder)
    figures.trials += 1
    figures.total += trial.seconds
    _book(figures.keras, trial.keras)
    way = trial.seconds - trial.checking - sum(trial.keras.values()) - sum(trial.ours.values())
    _book(figures.ours, {**trial.ours, "checks and causes": trial.checking, "the way there and back": max(0.0, way)})
    if recorder.answer is not None and first:
        _time_checks(recorder.answer, figures)
    if first:
        naive = naive or process.bench(case.request(()))
        if naive["crashed"] is None:
            figures.predicted += 1
            figures.paired += trial.seconds + case_seconds(figures)
            _book(figures.predict, {key: value for key, value in naive["seconds"].items() if key != "total"})
        else:
            figures.crashed += 1
    if first and rate and place % rate == 0:
        figures.costly.append(run(case, process, checks=COSTLY).seconds)
    if place + 1 == EARLY:
        figures.early = process.resident()


def case_seconds(figures: Figures) -> float:
    """What writing the source takes, a trial."""
    return figures.source / max(1, figures.trials)


def _time_checks(answer: Answer, figures: Figures) -> None:
    if answer.original is None:
        return
    for clone in answer.clones.values():
        for name in CHECKS:
            started = perf_counter()
            compare(answer.original, clone, [name])
            _book(figures.checks, {name: perf_counter() - started})


def _table(summary: dict[str, Any]) -> str:
    lines = [
        f"{summary['subject']} {summary['keras']} on {summary['backend']}, {summary['trials']} trials, "
        f"graphs of {LAYERS[0]} to {LAYERS[1]} layers, cloners upstream and fixed",
        "",
        f"a trial                        {summary['trial_ms']:8.2f} ms   {summary['trials_per_second']:.1f} a second",
        f"  drawing                      {summary['draw_ms']:8.2f} ms   {summary['share_of_drawing']:.1%}",
        f"  source                       {summary['source_ms']:8.2f} ms",
    ]
    lines += [f"  Keras: {name:22}{value:8.2f} ms" for name, value in summary["keras_ms"].items()]
    lines += [f"  ours:  {name:22}{value:8.2f} ms" for name, value in summary["ours_ms"].items()]
    lines += [f"    check {name:21}{value:8.2f} ms" for name, value in summary["checks_ms"].items()]
    lines += [
        f"outside Keras                  {summary['share_outside_keras']:8.1%}",
        f"added by the subject's process {summary['added_by_process_ms']:8.2f} ms",
        f"the subject is ready in        {summary['ready_seconds']['spawn']:8.2f} s, once",
        "",
        f"the harness with predict       {summary['predict_harness_ms']['trial']:8.2f} ms   on the "
        f"{summary['predict_harness_graphs']} graphs that it finishes; it crashes on "
        f"{summary['predict_harness_crashed']}",
        f"ours on the same graphs        {summary['same_graphs_trial_ms']:8.2f} ms   "
        f"{summary['ratio_to_predict_harness']:.1f} times the trials a second",
    ]
    if summary["costly_trial_ms"] is not None:
        lines.append(
            f"a trial with the costly checks {summary['costly_trial_ms']:8.2f} ms   again, training, saving; "
            "fuzz and pytest give them to one graph in 8"
        )
    if summary["resident_growth"] is not None:
        lines.append(f"resident memory, trial {EARLY} to the end: {summary['resident_growth']:+.1%}")
    return "\n".join(lines)
