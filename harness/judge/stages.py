"""What a candidate that loads is tried on, in order: the reported bug, known graphs, fresh ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from clonediff.harness.judge.plain_graphs import REPORTED
from clonediff.harness.judge.processes import LOADING
from clonediff.harness.judge.trying import Candidate, GivenUpError, GraphTried
from clonediff.harness.subjects.process import Limits
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.offers import graphs_on
from clonediff.harness.trials.trial import Trial
from clonediff.reports.known import KnownIssues
from clonediff.strategies.graph import Graph

Say = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class JudgeBudget:
    """How long fresh graphs are drawn for each candidate, and how many; the limits of a trial and of loading.

    `short` are the seconds for a candidate that holds on no known graph: they are for the smallest one.
    """

    seconds: float = 8.0
    graphs: int = 400
    seed: int = 0
    short: float = 2.0
    limits: Limits = field(default_factory=lambda: Limits(trial=15.0, cloning=0))
    loading: float = LOADING


@dataclass(frozen=True, slots=True)
class Stages:
    """What came of the model of the report, of the same through `multi_gpu_model`, and why not all was tried."""

    reported: GraphTried | None = None
    multi_gpu: Trial | None = None
    stopped: str = ""


def try_all(
    candidate: Candidate, known: Mapping[str, Graph], budget: JudgeBudget, say: Say, *, fresh: bool = True
) -> Stages:
    """Try a candidate on everything; what the graphs show, it remembers."""
    reported, multi_gpu = None, None
    try:
        say("the reported bug", 0.0)
        reported = candidate.try_from(REPORTED, "the bug report")
        multi_gpu = _through_multi_gpu(candidate)
        holds = False
        for number, (name, graph) in enumerate(known.items()):
            say(f"known graphs, {number} of {len(known)}", 0.1 + 0.4 * number / len(known))
            holds |= candidate.try_from(graph, name).effect is None
        if fresh:
            say("fresh graphs", 0.5)
            candidate.draw(
                graphs_on(candidate.process, cloners=("candidate",)),
                seconds=budget.seconds if holds else min(budget.seconds, budget.short),
                examples=budget.graphs,
                seed_=budget.seed,
                after_each=lambda: say(f"fresh graphs, {len(candidate.graphs)} tried", 0.7),
            )
    except GivenUpError as error:
        return Stages(reported, multi_gpu, str(error))
    return Stages(reported, multi_gpu)


def _through_multi_gpu(candidate: Candidate) -> Trial | None:
    """The reported model through `multi_gpu_model`, which is how it was met; None where the release has none."""
    case = case_of(REPORTED, candidate.process.subject.dialect)
    trial = GraphTrials(candidate.process, KnownIssues(), cloners=(multi_gpu_cloner(candidate),)).try_case(case).trial
    causes = trial.clones[multi_gpu_cloner(candidate)].causes if trial.built else ()
    absent = any(cause.root.raised is not None and cause.root.raised.type == "LookupError" for cause in causes)
    return None if absent else trial


def multi_gpu_cloner(candidate: Candidate) -> str:
    """The name of the cloner that clones with this one, for two GPUs."""
    return "multi_gpu/fixed" if candidate.cloner == "fixed" else "multi_gpu"
