"""The reducer: what shows something gets as small as that allows, and never larger."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.search.hunt import make_smaller, rebuilt
from clonediff.harness.search.reduce import proposals, reduce, size
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues
from clonediff.strategies.program import Again, Apply, Graph, Input, Nest, Preparation, Program, kinds
from tests.warm_keras import built, drawn

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


def large(**fields: object) -> Graph:
    """A model with something of everything."""
    body = (DENSE, LAMBDA, ADD, NEST, Again(0, ((-1, 0),)))
    outputs = ((3, 0), (4, 0))
    return built(*body, outputs=outputs, name="my_model", gives="list", preparations=(COMPILED,), **fields)


SHOWS: dict[str, tuple[Callable[[Graph], bool], int]] = {
    "anything": (lambda graph: True, 0),
    "a Lambda": (lambda graph: "layers.Lambda(" in graph.source, 1),
    "two outputs": (lambda graph: "lambda_output[1]" in graph.source or "lambda_2[1]" in graph.source, 2),
    "a layer in a model": (lambda graph: "inner_model" in graph.source and "Dropout" in graph.source, 1),
    "a Dropout": (lambda graph: "Dropout" in graph.source, 1),
    "a layer called twice": (lambda graph: any(isinstance(each, Again) for each in graph.program.body), 2),
    "compiled": (lambda graph: ".compile(" in graph.source, 0),
}


@pytest.mark.parametrize("shows", SHOWS)
def test_what_shows_something_is_made_small(shows: str, keras: SubjectProcess) -> None:
    still, calls = SHOWS[shows]
    found = reduce(large(), lambda program: rebuilt(keras, program), still)
    assert still(found)
    program = found.program
    assert (len(program.body), len(program.inputs), program.name) == (calls, 1, None)
    assert program.preparations == () or shows == "compiled"
    assert "use_bias" not in found.source


def test_every_step_is_smaller_and_there_is_an_end(keras: SubjectProcess) -> None:
    sizes = []

    def still(graph: Graph) -> bool:
        sizes.append(size(graph.program))
        return True

    reduce(large(), lambda program: rebuilt(keras, program), still)
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)


def test_each_proposal_is_a_program_of_what_was_there() -> None:
    for graph in drawn("keras", 40):
        for program in proposals(graph.program):
            assert program.generation == "keras"
            assert kinds(program) <= kinds(graph.program) | {"Activation", "Dense", "ReLU"}
            assert len(program.inputs) <= len(graph.program.inputs)


def test_a_finding_is_made_small_by_real_trials(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues(), cloners=("upstream",))
    named = Apply("Lambda", (("function", "<double_named>"),), ((0, 0),))
    dropout = Apply("Dropout", (("rate", "0.25"),), ((1, 0),))
    graph = built(DENSE, named, dropout, inputs=(Input((3, 4), name="x", fill="steps"),))
    (hit, *_) = trials.try_graph(graph, costly=False).hits
    smaller = make_smaller(trials, graph, hit.key, hit.cause and hit.cause.root)
    assert smaller.finished and smaller.hit is not None and smaller.hit.graph is not None
    assert [type(each) for each in smaller.hit.graph.program.body] == [Apply]
    assert kinds(smaller.hit.graph.program) == {"Lambda"}
    assert smaller.hit.graph.program.inputs[0].name is None


def test_a_program_that_keras_refuses_is_none(keras: SubjectProcess) -> None:
    assert rebuilt(keras, Program("keras", (Input((4,)),), (Apply("Conv2D", (("filters", "2"),)),), ((0, 0),))) is None
