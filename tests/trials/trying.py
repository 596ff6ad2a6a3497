"""Graphs and sources cloned in a real process."""

from __future__ import annotations

from clonediff.harness.drawing.remembered_answers import asked
from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.trial import CloneTrial, run
from clonediff.strategies.asking import asking
from clonediff.strategies.graph import Graph
from tests.waiting import PATIENCE
from tests.warm_keras import well_typed


def tried(graph: Graph | Case, process: SubjectProcess, *cloners: str, costly: bool = False) -> dict[str, CloneTrial]:
    """What each cloner makes of a model that can be built."""
    with asking(asked(process)):
        if isinstance(graph, Graph) and graph.preparations:
            well_typed(graph)
        case = case_of(graph, process.subject.generation) if isinstance(graph, Graph) else graph
    trial = run(case, process, cloners, costly, timeout=PATIENCE)
    assert trial.built, (graph, trial.refused, trial.lost)
    return trial.clones


def fixed_is_faithful(graph: Graph, process: SubjectProcess) -> None:
    """The fixed cloner clones a graph faithfully."""
    assert tried(graph, process, "fixed")["fixed"].differences == (), (graph.clone_arguments, graph.preparations)
