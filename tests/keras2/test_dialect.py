"""What is drawn for Keras 2.2 and 2.3, how it is written, and that the releases build and run it."""

from __future__ import annotations

import ast
from collections.abc import Callable

from clonediff.harness.scripts.of_finding import script_of
from clonediff.harness.scripts.run_alone import tried_alone
from clonediff.harness.search.draw_and_reduce import search
from clonediff.harness.source import write_source
from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues, load
from clonediff.strategies import Graph
from tests.warm_keras import graphs_of, hold

MODERN = ("ops.", "tf.", "register_keras_serializable", "keras.saving", "batch_size=", "optional=")


def test_graphs_are_of_the_dialect() -> None:
    def holds(graph: Graph) -> None:
        text = write_source(graph, "keras2")
        ast.parse(text)
        assert not [word for word in MODERN if word in text]

    hold(holds, "keras2", 20, 300)


def test_the_reported_bug_is_found_and_reduced_to_its_smallest(warm: Callable[[str], SubjectProcess]) -> None:
    process = warm("keras==2.2.4")
    others = KnownIssues(tuple(issue for issue in load().issues if issue.id != "keras2-two-outputs"))
    trials = GraphTrials(process, others, cloners=["upstream"], rate=0)
    graphs = graphs_of("keras2", kinds=["Lambda"], features=(), without=["Lambda.output_shape", "Lambda.mask"])
    found = search(trials, graphs, examples=200, seed_=1)
    assert found is not None
    assert found.fingerprint.startswith("made-raises-assertionerror")
    assert len(found.graph.inputs) == len(found.graph.calls) == 1
    assert found.graph.layers[0].kind == "Lambda"
    assert found.graph.calls[0].outputs == 2
    script = script_of(found, "keras2", process.versions)
    assert "keras 2.2.4, tensorflow 1.15" in script.text
    assert tried_alone(script, process.subject, process.place)[0] is True
