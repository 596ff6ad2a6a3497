"""What a reduction promises, whatever is asked of the graphs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import structs

from clonediff.harness.search.reducing import reduce
from clonediff.harness.search.reducing.measure import size
from clonediff.strategies import Graph, from_json, infer
from clonediff.strategies.graph import (
    Call,
    CloneArguments,
    Form,
    Function,
    Input,
    Layer,
    MalformedGraph,
    Named,
    Preparation,
    Ref,
)
from clonediff.strategies.kinds import GENERATIONS, Generation
from tests.example_graphs import EXAMPLES
from tests.warm_keras import at_hand, hold

from .questions import QUESTIONS, Asked, held

UNLIMITED = 10_000
FEW: dict[Generation, int] = {"keras": 16, "tf_keras": 6}
"""The graphs that are reduced by day. What is cut is the same in each generation, and Keras 3 answers soonest."""
DENSE = Layer("Dense", (("units", 4), ("activation", "relu")))
INNER = Graph((Input((3, 4)),), (DENSE,), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
GRAPH = Graph(
    (Input((3, 4)),),
    (DENSE, Layer("Dropout", (("rate", 0.5),)), Layer("Model", graph=INNER), Layer("operator.half")),
    tuple(Call(number, (Ref(number),)) for number in range(4)),
    Ref(0),
    Ref(4),
    generation="keras",
)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_each_candidate_is_well_formed_and_smaller_and_the_result_holds(generation: Generation) -> None:
    def holds(graph: Graph) -> None:
        with at_hand(generation):
            promises(graph)

    def promises(graph: Graph) -> None:
        for name, question in held(graph, 3):
            asked = Asked(question, graph)
            reduced = reduce(graph, asked, most=UNLIMITED)
            assert question(reduced.graph), name
            assert reduced.tried == len(asked.graphs)
            assert reduced.graph == graph or reduced.graph in asked.graphs

    hold(holds, generation, FEW[generation], 80)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_same_answers_give_the_same_graph_and_what_is_small_stays(generation: Generation) -> None:
    def holds(graph: Graph) -> None:
        with at_hand(generation):
            same(graph)

    def same(graph: Graph) -> None:
        for name, question in held(graph, 2):
            reduced = reduce(graph, question, most=UNLIMITED)
            assert reduce(graph, question, most=UNLIMITED) == reduced, name
            assert reduce(reduced.graph, question, most=UNLIMITED).graph == reduced.graph, name

    hold(holds, generation, FEW[generation], 40)


def test_clone_arguments_go_where_they_do_not_matter_and_get_plainer_where_they_do() -> None:
    arguments = CloneArguments("layers", call_function=True, recursive=True)
    graph = structs.replace(GRAPH, clone_arguments=arguments)
    assert reduce(graph, lambda each: True).graph.clone_arguments is None

    def given(arguments: Callable[[CloneArguments], bool]) -> CloneArguments | None:
        still = lambda each: each.clone_arguments is not None and arguments(each.clone_arguments)  # noqa: E731
        return reduce(graph, still).graph.clone_arguments

    assert given(lambda each: each.inputs != "") == CloneArguments("fresh")
    assert given(lambda each: each.call_function) == CloneArguments(call_function=True)
    assert given(lambda each: each.recursive) == CloneArguments(recursive=True)


def test_a_preparation_goes_where_it_does_not_matter_and_says_less_where_it_does() -> None:
    loss = Function("error named", ("y_true - y_pred",))
    compiled = Preparation("compile", None, (("optimizer", "sgd"), ("loss", loss), ("run_eagerly", True)))
    graph = structs.replace(GRAPH, preparations=(Preparation("trainable", "Dropout", (("trainable", True),)), compiled))
    assert reduce(graph, lambda each: True).graph.preparations == ()
    assert reduce(
        graph, lambda each: any(preparation.does == "compile" for preparation in each.preparations)
    ).graph.preparations == (Preparation("compile"),)
    told = reduce(
        graph, lambda each: any(dict(preparation.args).get("loss") is not None for preparation in each.preparations)
    )
    assert told.graph.preparations == (Preparation("compile", None, (("loss", "mse"),)),)
    frozen = reduce(graph, lambda each: any(preparation.does == "trainable" for preparation in each.preparations))
    assert frozen.graph.preparations == (Preparation("trainable", None, (("trainable", False),)),)
    assert len(frozen.graph.calls) == 0 or len(frozen.graph.layers) < len(graph.layers)


def test_an_argument_that_is_seldom_said_goes_where_it_does_not_matter() -> None:
    args = (("filters", 3), ("kernel_size", 2), ("padding", "same"), ("strides", 2))
    graph = structs.replace(GRAPH, layers=(Layer("Conv1D", args),), calls=(Call(0, (Ref(0),)),), gives=Ref(1))
    infer(graph)
    reduced = reduce(graph, lambda each: any(layer.kind == "Conv1D" for layer in each.layers)).graph
    assert [layer.args for layer in reduced.layers] == [(("filters", 1), ("kernel_size", 2))]


def test_a_layer_is_shared_only_where_that_matters() -> None:
    calls = (Call(0, (Ref(0),)), Call(0, (Ref(1),)), Call(0, (Ref(2),)))
    graph = structs.replace(GRAPH, layers=(DENSE,), calls=calls, gives=Ref(3))
    called = reduce(graph, lambda each: [each.layers[call.layer].kind for call in each.calls] == ["Dense"] * 3).graph
    assert [call.layer for call in called.calls] == [0, 1, 2]
    assert called.layers == (Layer("Dense", (("units", 1),)),) * 3
    shared = reduce(graph, lambda each: len(each.calls) > len(each.layers)).graph
    assert [call.layer for call in shared.calls] == [0, 0]


def test_a_limit_is_kept_and_what_was_reached_is_given() -> None:
    def holds(graph: Graph) -> None:
        for name, question in held(graph, 1):
            sizes = [size(graph)]
            for most in (0, 1, 5, 20):
                asked = Asked(question, graph)
                reduced = reduce(graph, asked, most=most)
                assert reduced.tried == len(asked.graphs) <= most, name
                assert question(reduced.graph), name
                sizes.append(size(reduced.graph))
            assert sizes == sorted(sizes, reverse=True), name

    hold(holds, "keras", FEW["keras"], 40)


@pytest.mark.parametrize("id_", EXAMPLES)
def test_a_graph_from_a_file_is_reduced_as_well(id_: str) -> None:
    graph = from_json(EXAMPLES[id_], id_)
    for question in (QUESTIONS["anything"], QUESTIONS["two of three"], QUESTIONS["one of five"]):
        reduce(graph, Asked(question, graph), most=UNLIMITED)


def test_what_a_question_raises_is_raised() -> None:
    graph = Graph((Input((4,)),), (), (), Ref(0), Ref(0))

    def refuse(graph: Graph) -> bool:
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        reduce(graph, refuse)


def test_a_graph_of_which_no_script_can_be_written_does_not_hold() -> None:
    def still(graph: Graph) -> bool:
        if not graph.calls:
            raise MalformedGraph("nothing is called")
        return True

    with at_hand("keras"):
        assert len(reduce(GRAPH, still, most=UNLIMITED).graph.calls) == 1


@pytest.mark.parametrize(
    ("of_own", "left"),
    [
        pytest.param(lambda form: True, Form("activation", "registered"), id="any form"),
        pytest.param(lambda form: "list" in form, Form("activation", "keeps a list"), id="of a list"),
    ],
)
def test_a_form_becomes_the_simplest_that_still_fails(of_own: Callable[[str], bool], left: Form) -> None:
    layer = Layer("Dense", (("units", 4), ("activation", Form("activation", "empties a list")), ("use_bias", False)))

    def still(graph: Graph) -> bool:
        forms = [value for each in graph.layers for _, value in each.args if isinstance(value, Form)]
        return any(of_own(form.form) for form in forms)

    with at_hand("keras"):
        reduced = reduce(structs.replace(INNER, layers=(layer,), generation="keras"), still).graph
    assert [each.arg("activation") for each in reduced.layers] == [left]


def test_a_form_is_left_out_where_a_plain_value_fails_alike() -> None:
    layer = Layer("Dense", (("units", 4), ("activation", Form("activation", "partial"))))
    with at_hand("keras"):
        reduced = reduce(
            structs.replace(INNER, layers=(layer,), generation="keras"),
            lambda graph: any(each.kind == "Dense" and each.arg("activation") for each in graph.layers),
        ).graph
    assert [each.arg("activation") for each in reduced.layers] == ["relu"]


def test_an_object_has_the_arguments_that_matter_and_no_others() -> None:
    drawn = Named("initializers.VarianceScaling", (("scale", 2.0), ("mode", "fan_avg"), ("seed", 7)))
    layer = Layer("Dense", (("units", 4), ("kernel_initializer", drawn)))

    def has_a_mode(graph: Graph) -> bool:
        return any(
            isinstance(value, Named) and "mode" in dict(value.args or ())
            for each in graph.layers
            for _, value in each.args
        )

    reduced = reduce(structs.replace(GRAPH, layers=(layer, *GRAPH.layers[1:])), has_a_mode).graph
    values = [value for layer in reduced.layers for _, value in layer.args if isinstance(value, Named)]
    assert values == [Named("initializers.VarianceScaling", (("mode", "fan_avg"),))]


@pytest.mark.parametrize(
    ("matters", "left"),
    [
        pytest.param(lambda dtype: dtype is not None, "float64", id="any dtype"),
        pytest.param(lambda dtype: isinstance(dtype, Form), Form("policy", "shared"), id="a form"),
        pytest.param(
            lambda dtype: "list" in getattr(dtype, "form", ""), Form("policy", "keeps a list"), id="of a list"
        ),
    ],
)
def test_a_policy_becomes_the_simplest_that_still_fails(matters: Callable[[object], bool], left: object) -> None:
    layer = structs.replace(DENSE, dtype=Form("policy", "empties a list"))
    graph = structs.replace(GRAPH, layers=(layer, *GRAPH.layers[1:]))
    reduced = reduce(graph, lambda graph: any(matters(each.dtype) for each in graph.layers)).graph
    assert [each.dtype for each in reduced.layers if each.dtype is not None] == [left]
