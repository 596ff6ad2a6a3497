"""The reducer makes graphs as small as the failure allows, and never larger."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.search.reduce import reduce
from clonediff.harness.search.search import rebuild, reduce_graph
from clonediff.harness.subjects import SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues
from clonediff.strategies.program import Again, Apply, Graph, Input, Nest, Preparation, Program
from tests.helpers.drawn_graphs import graph_of

DENSE = Apply("Dense", (("units", "4"), ("use_bias", "False")), after=("trainable = False",))
LAMBDA = Apply(
    "Lambda",
    (("function", "<transform>"),),
    ((0, 0),),
    definitions=(("transform", "def <transform>(x):\n    return [x, x * 2.0]\n"),),
)
ADD = Apply("Add", (), ((1, 0), (1, 1)), 2, "list")
NEST = Nest((Apply("Dense", (("units", "4"),)), Apply("Dropout", (("rate", "0.5"),), ((0, 0),))), ((2, 0),), ((1, 0),))
COMPILED = Preparation("compile", ('<it>.compile(optimizer="sgd", loss="mse", metrics=["mae"])',))


def large_graph(**fields: object) -> Graph:
    """Build a model with all kinds of instructions."""
    body = (DENSE, LAMBDA, ADD, NEST, Again(0, ((-1, 0),)))
    outputs = ((3, 0), (4, 0))
    return graph_of(*body, outputs=outputs, name="my_model", gives="list", preparations=(COMPILED,), **fields)


CONDITIONS: dict[str, tuple[Callable[[Graph], bool], int]] = {
    "anything": (lambda graph: True, 0),
    "a Lambda": (lambda graph: "layers.Lambda(" in graph.source, 1),
    "two outputs": (lambda graph: "lambda_output[1]" in graph.source or "lambda_2[1]" in graph.source, 2),
    "a layer in a model": (lambda graph: "inner_model" in graph.source and "Dropout" in graph.source, 1),
    "a Dropout": (lambda graph: "Dropout" in graph.source, 1),
    "a layer called twice": (lambda graph: any(isinstance(step, Again) for step in graph.program.body), 2),
    "compiled": (lambda graph: ".compile(" in graph.source, 0),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_graph_is_reduced_to_the_part_that_shows_the_cause(name: str, keras: SubjectProcess) -> None:
    condition, calls = CONDITIONS[name]
    smallest = reduce(large_graph(), lambda program: rebuild(keras, program), condition)
    assert condition(smallest)
    program = smallest.program
    assert (len(program.body), len(program.inputs), program.name) == (calls, 1, None)
    assert program.preparations == () or name == "compiled"
    assert "use_bias" not in smallest.source


def test_the_reduction_ends_on_a_smaller_graph(keras: SubjectProcess) -> None:
    sources: list[str] = []

    def fails_every_second_time(graph: Graph) -> bool:
        sources.append(graph.source)
        return len(sources) % 2 == 0

    smallest = reduce(large_graph(), lambda program: rebuild(keras, program), fails_every_second_time)
    assert len(smallest.source) < len(large_graph().source) and len(sources) < 200


def test_an_error_ends_the_reduction_and_is_reported(keras: SubjectProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(request: object) -> None:
        raise SubjectError("a fault of ours")

    graph, trials = large_graph(), GraphTrials(keras, KnownIssues())
    drawn = trials.try_graph(graph).found_causes[0]
    monkeypatch.setattr(keras, "draw", fail)
    result = reduce_graph(trials, graph, drawn.key, None)
    assert (result.smallest_cause, result.is_finished, result.failure) == (result.drawn_cause, False, "a fault of ours")


def test_only_programs_that_keras_accepts_and_defines_are_rebuilt(keras: SubjectProcess) -> None:
    named, unnamed, fresh = Input((4,), name="x"), Input((4,)), {"clone_arguments": "fresh"}
    assert rebuild(keras, Program("keras", (named,), (Apply("Conv2D", (("filters", "2"),)),), ((0, 0),))) is None
    programs = (Program("keras", (item,), (Apply("ReLU"),), ((0, 0),), **fresh) for item in (named, unnamed))
    assert [rebuild(keras, program) is None for program in programs] == [False, True]
