"""Reductions of what really breaks: graphs on which the clone of a release is not faithful, nothing being known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.drawing.drawable_kinds import graphs_on
from clonediff.harness.search.reducing import reduce
from clonediff.harness.search.reducing.measure import size
from clonediff.harness.search.sampling import sample_graphs
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import Hit, Key
from clonediff.reports.known import KnownIssues, load
from clonediff.strategies import Graph, from_json, to_json
from clonediff.strategies.kinds import Generation
from tests.example_graphs import EXAMPLES

FINDINGS = 3
"""The causes that are reduced, each found on a drawn graph."""


def broken(trials: GraphTrials) -> dict[Key, Graph]:
    """Graphs that break in different ways, the largest of those that were drawn first."""
    found: dict[Key, Graph] = {}
    for graph in sorted(sample_graphs(graphs_on(trials.process), 80, 3), key=size, reverse=True):
        if len(found) >= FINDINGS:
            break
        for hit in hits(trials, graph):
            found.setdefault(hit.key, graph)
    return dict(list(found.items())[:FINDINGS])


def hits(trials: GraphTrials, graph: Graph) -> list[Hit]:
    return [each for each in trials.try_graph(graph, costly=False).hits if each.cloner == "upstream"]


@pytest.mark.slow(reason="hundreds of trials; every campaign of tests/campaign reduces what it finds")
@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_the_cause_stays_and_the_graph_becomes_small(
    generation: Generation, warm: Callable[[str], SubjectProcess]
) -> None:
    trials = GraphTrials(warm(generation), KnownIssues())
    found = broken(trials)
    assert len(found) == FINDINGS
    for key, graph in found.items():
        reduced = reduce(graph, lambda each, key=key: key in {one.key for one in hits(trials, each)})  # type: ignore[misc]  # bound early
        assert key in {one.key for one in hits(trials, reduced.graph)}, (key, to_json(graph))
        assert size(reduced.graph)[0] <= 9, (key, to_json(reduced.graph))
    assert trials.tally.refused == 0, "a candidate was offered that cannot be built"


@pytest.mark.slow(reason="hundreds of trials of graphs that are small already")
def test_what_cannot_be_built_is_not_taken_for_what_cannot_be_cloned(
    keras: SubjectProcess,
) -> None:
    """A known issue's example is small already: what a reduction makes of it still shows that issue and no other."""
    known = load()
    trials = GraphTrials(keras, known)
    for name in ("call-order", "layer-twice", "frozen-attention"):

        def still(graph: Graph, name: str = name) -> bool:
            return name in {hit.known.id for hit in trials.try_graph(graph, costly=False).hits if hit.known}

        graph = from_json(EXAMPLES[name], name)
        assert still(graph)
        assert still(reduce(graph, still).graph)
