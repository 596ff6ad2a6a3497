"""What is drawn for Keras 2.2 and 2.3, how it is written, and that the releases build and run it."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from harness.scripts.of_finding import script_of
from harness.scripts.run_alone import tried_alone
from harness.search.draw_and_shrink import search
from harness.source import write_source
from harness.subjects import SubjectProcess
from harness.subjects.observation import Answer
from harness.trials.cases import case_of
from harness.trials.graph_trials import GraphTrials
from reports.known import KnownIssues, load
from strategies import Graph, infer
from strategies.kinds import catalogue
from tests.asked import graphs_of
from tests.effort import examples

MODERN = ("ops.", "tf.", "register_keras_serializable", "keras.saving", "batch_size=", "optional=", 'dtype="float64"')


def drawing(graphs: int) -> settings:
    return settings(
        max_examples=graphs,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )


def kinds_drawn(graphs: int) -> set[str]:
    """The kinds in so many graphs, each of which is of the dialect."""
    seen: set[str] = set()

    @seed(1)
    @drawing(graphs)
    @given(graphs_of("keras2"))
    def drawn(graph: Graph) -> None:
        infer(graph)
        text = write_source(graph, "keras2")
        ast.parse(text)
        assert not [word for word in MODERN if word in text]
        seen.update(layer.kind for layer in graph.layers)

    drawn()
    return seen - {"Model", "Sequential"}


def test_graphs_are_of_the_catalogue_and_of_the_dialect() -> None:
    assert kinds_drawn(300) <= set(catalogue("keras2"))


@pytest.mark.slow(reason="three thousand graphs for the rarest of kinds; test_reach asks the same of Keras 3")
def test_all_of_the_catalogue_is_drawn() -> None:
    assert kinds_drawn(3000) == set(catalogue("keras2"))


@pytest.mark.parametrize(
    "spec",
    [
        "keras==2.2.4",
        pytest.param("keras==2.2.5", marks=pytest.mark.slow(reason="the dialect of 2.2.4")),
        pytest.param("keras==2.3.1", marks=pytest.mark.slow(reason="the dialect of 2.2.4")),
    ],
)
def test_what_is_drawn_is_built_and_runs(spec: str, warm: Callable[[str], SubjectProcess]) -> None:
    process = warm(spec)

    @seed(2)
    @drawing(examples(20, 60))
    @given(graphs_of("keras2"))
    def runs(graph: Graph) -> None:
        case = case_of(graph, "keras2")
        answer = process.trial(case, cloners=[])
        assert isinstance(answer, Answer), answer
        assert answer.refused is None, case.source
        assert answer.original is not None
        assert answer.original.inference.failure is None, case.source
        assert answer.original.training.failure is None, case.source

    runs()


def test_the_reported_bug_is_found_and_shrunk_to_its_smallest(warm: Callable[[str], SubjectProcess]) -> None:
    process = warm("keras==2.2.4")
    others = KnownIssues(tuple(issue for issue in load().issues if issue.id != "keras2-two-outputs"))
    trials = GraphTrials(process, others, cloners=["upstream"], rate=0)
    graphs = graphs_of("keras2", kinds=["Lambda", "Add", "Dense"])
    found = search(trials, graphs, examples=200, seed_=1)
    assert found is not None
    assert found.fingerprint.startswith("made-raises-assertionerror")
    assert len(found.graph.inputs) == len(found.graph.calls) == 1
    assert found.graph.layers[0].kind == "Lambda"
    assert found.graph.calls[0].outputs == 2
    script = script_of(found, "keras2", process.versions)
    assert "keras 2.2.4, tensorflow 1.15" in script.text
    assert tried_alone(script, process.subject, process.place)[0] is True
