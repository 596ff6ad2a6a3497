"""Graphs cloned in a real process: faithfully by the fixed cloner, and with a planted fault."""

from __future__ import annotations

from collections.abc import Sequence

from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.remembered_answers import asked
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import CloneTrial, run
from clonediff.reports.records import Difference
from clonediff.strategies.asking import asking
from clonediff.strategies.graph import Graph
from tests.waiting import PATIENCE
from tests.warm_keras import well_typed


def tried(graph: Graph, process: SubjectProcess, *cloners: str, checks: Sequence[str] = ()) -> dict[str, CloneTrial]:
    """What each cloner makes of a graph that can be built."""
    with asking(asked(process)):
        if graph.preparations:
            well_typed(graph)
        case = case_of(graph, process.subject.dialect)
    trial = run(case, process, cloners, checks, timeout=PATIENCE)
    assert trial.built, (graph.clone_arguments, graph.preparations, trial.refused, trial.lost)
    return trial.clones


def fixed_is_faithful(graph: Graph, process: SubjectProcess) -> None:
    """The fixed cloner clones a graph faithfully."""
    clone = tried(graph, process, "fixed")["fixed"]
    assert (clone.verdict, clone.differences) == (Verdict.FAITHFUL, ()), (graph.clone_arguments, graph.preparations)


def planted(graph: Graph, process: SubjectProcess, fault: str, checks: Sequence[str] = ()) -> tuple[Difference, ...]:
    """What a planted fault does to a graph that the fixed cloner clones faithfully."""
    clones = tried(graph, process, "fixed", f"planted/{fault}", checks=checks)
    assert clones["fixed"].differences == ()
    return clones[f"planted/{fault}"].differences
