"""States: which steps suit a graph, which are drawn, and that they change nothing of the graphs that are drawn."""

from __future__ import annotations

import contextlib
import random
from typing import get_args

import pytest
from msgspec import structs

from harness.search.even_draws import evenly
from strategies import FEATURES, MalformedGraph, from_json, to_json
from strategies.drawn_states import DIGITS, steps
from strategies.graph import (
    Array,
    Axis,
    Call,
    CloneFunction,
    Function,
    Graph,
    Input,
    Items,
    Layer,
    Made,
    Named,
    Ref,
    Seq,
    Step,
    Value,
    Way,
)
from strategies.graphs import STATES, WAYS, Feature
from strategies.kinds import LEFT_OUT, Generation
from strategies.learning import learns
from strategies.states import STEPS, costly
from strategies.targets import targets
from strategies.ways import read_example, well_typed
from tests.asked import graphs_of
from tests.effort import everything, examples
from tests.strategies.test_ways import GRAPH, INNER

WRAPPED = structs.replace(
    INNER, layers=(Layer("TimeDistributed", (("layer", Made(Layer("Dense", (("units", 4),)))),)),), generation="keras"
)


def test_every_step_is_a_feature() -> None:
    assert set(STEPS) == STATES <= set(get_args(Feature)) - FEATURES


@pytest.mark.parametrize("does", STEPS)
def test_every_step_is_drawn_with_each_value(does: str) -> None:
    draw, whole = random.Random(0), structs.replace(GRAPH, generation=STEPS[does].generations[0])
    drawn = [steps(whole, [draw.randrange(256) for _ in range(DIGITS)], {does}) for _ in range(1500)]
    seen = {(step.kind, name, value) for each in drawn for step in each for name, value in step.args}
    kinds = {step.kind for each in drawn for step in each}
    assert kinds == set(STEPS[does].on(whole))
    for kind in kinds:
        for name, values in STEPS[does].args(whole, kind).items():
            missing = [value for value in values if value != LEFT_OUT and (kind, name, value) not in seen]
            assert not missing, (name, missing)
    for each in set(drawn):
        graph = structs.replace(whole, state=each)
        assert read_example(to_json(graph).decode(), "here") == graph


@pytest.mark.parametrize(
    ("step", "wrong"),
    [
        (Step("melt"), "expected one of compile"),
        (Step("compile", "Dense"), "cannot be done to Dense"),
        (Step("compile", None, (("loss", "mine"),)), "nothing is known of 'loss'"),
        (Step("compile", None, (("loss", Seq(("mse", "mse"))),)), "nothing is known of 'loss'"),
        (Step("compile", None, (("run_eagerly", 1),)), "nothing is known of 'run_eagerly'"),
        (Step("trainable", "LSTM", (("trainable", False),)), "cannot be done to LSTM"),
        (Step("trainable", "Dense"), "expected 'trainable'"),
        (Step("set", "Dropout"), "expected one argument"),
    ],
)
def test_a_step_that_does_not_suit(step: Step, wrong: str) -> None:
    with pytest.raises(MalformedGraph, match=wrong):
        well_typed(structs.replace(GRAPH, state=(step,)))


def test_a_state_that_does_not_suit() -> None:
    step = Step("compile")
    with pytest.raises(MalformedGraph, match="each step once"):
        well_typed(structs.replace(GRAPH, state=(step, step)))
    with pytest.raises(MalformedGraph, match="cloned into another"):
        well_typed(structs.replace(GRAPH, state=(step,), way=Way(clone_function=CloneFunction())))
    with pytest.raises(MalformedGraph, match="on other inputs"):
        well_typed(structs.replace(GRAPH, state=(Step("call"),), way=Way("fresh")))
    well_typed(structs.replace(GRAPH, state=(step,), way=Way("fresh", recursive=True)))
    with pytest.raises(MalformedGraph, match="nobody says"):
        well_typed(structs.replace(INNER, generation="tf_keras", state=(step,)))
    inner = Layer("Model", graph=structs.replace(INNER, state=(step,)))
    with pytest.raises(MalformedGraph, match="within another"):
        structs.replace(GRAPH, layers=(*GRAPH.layers[:2], inner, GRAPH.layers[3]))


@pytest.mark.parametrize("kind", [None, "Dense"])
@pytest.mark.parametrize(
    "costs",
    [
        Layer("ActivityRegularization", (("l2", 0.5),)),
        Layer("Activation", (("activation", "relu"), ("activity_regularizer", "l2"))),
    ],
    ids=lambda layer: layer.kind,
)
def test_keras_2_calls_nothing_once_more_where_a_call_costs(costs: Layer, kind: str | None) -> None:
    layers, calls = (Layer("Dense", (("units", 2),)), costs), (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    graph = Graph((Input((3,)),), layers, calls, Ref(0), Ref(2), generation="tf_keras", state=(Step("call", kind),))
    well_typed(graph)
    with pytest.raises(MalformedGraph, match="it cannot be done to"):
        well_typed(structs.replace(graph, generation="keras2"))


def test_keras_2_trains_no_moving_averages_before_the_model_is_cloned() -> None:
    """It counts in variables of its own how often they moved (`zero_debias` in keras/backend/tensorflow_backend.py)."""
    trained = Step("train", None, (("optimizer", "sgd"), ("loss", "mse")))
    for kind, generation, suits in (
        ("BatchNormalization", "keras", True),
        ("LayerNormalization", "keras", True),
        ("BatchNormalization", "keras2", False),
        ("Dense", "keras2", True),
    ):
        layer = Layer(kind, (("units", 2),) if kind == "Dense" else ())
        graph = Graph((Input((3,)),), (layer,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation=generation)
        with contextlib.nullcontext() if suits else pytest.raises(MalformedGraph, match="it cannot be done to"):
            well_typed(structs.replace(graph, state=(trained,)))


_ERROR = Function("error named", ("y_true - y_pred",))


@pytest.mark.parametrize("given", [("loss", _ERROR), ("metrics", Seq((_ERROR,)))], ids=lambda given: given[0])
def test_a_model_that_is_saved_is_compiled_with_nothing_of_ones_own(given: tuple[str, Value]) -> None:
    own = Step("compile", None, (given,))
    graph = structs.replace(INNER, generation="keras", state=(own, Step("load")))
    with pytest.raises(MalformedGraph, match="no function of one's own where the model is saved"):
        well_typed(graph)
    well_typed(structs.replace(graph, state=(own,)))
    well_typed(structs.replace(graph, state=(Step("compile", None, (("loss", "mse"),)), Step("load"))))


def test_a_value_for_each_output() -> None:
    def losses(gives: Value) -> tuple[Value, ...]:
        return STEPS["compile"].args(structs.replace(GRAPH, gives=gives), None)["loss"]

    assert Seq(("mse", "mse")) in losses(Seq((Ref(4), Ref(1))))
    assert not any(isinstance(each, Seq) for each in losses(Seq((Ref(4),))))
    nested = Items((("a", Seq((Ref(4), Seq((Ref(1),), "tuple")))), ("b", Ref(2))))
    assert Items((("a", Seq(("mse", Seq(("mse",), "tuple")))), ("b", "mse"))) in losses(nested)
    assert Items((("a", "mse"),)) in losses(Items((("a", Ref(4)), ("b", Ref(1)))))
    error = Function("error lambda", ("y_true - y_pred",))
    assert Seq((error, "mse")) in losses(Seq((Ref(4), Ref(1))))
    assert Named("losses.mean_absolute_error") in losses(Ref(4))


def test_what_a_step_is_done_to() -> None:
    assert list(targets(GRAPH)) == ["Dense", "Dropout", "Model"]
    held = targets(WRAPPED)["Dense"]
    assert (held.place, held.attributes) == ((0,), ("layer",))
    nested = structs.replace(
        INNER, layers=(Layer("Model", graph=INNER),), calls=(Call(0, (Ref(0),)),), generation="keras"
    )
    assert targets(nested)["Dense"].place == (0, 0)
    never_called = Graph((Input((3, 4)),), (Layer("Flatten"), *INNER.layers), (Call(1, (Ref(0),)),), Ref(0), Ref(1))
    assert list(targets(never_called)) == ["Dense"]
    assert not targets(structs.replace(GRAPH, layers=(Layer("Amplify"),), calls=GRAPH.calls[:1], gives=Ref(1)))


def test_the_models_that_are_drawn_are_the_same_with_states_and_without() -> None:
    plain = [each.graph for each in evenly(graphs_of("keras"), 60, 4)]
    graphs = graphs_of("keras", features=FEATURES | STATES)
    with_states = [each.graph for each in evenly(graphs, 60, 4)]
    assert [structs.replace(graph, state=()) for graph in with_states] == plain
    assert any(graph.state for graph in with_states)
    assert not any(graph.state for graph in plain)


@pytest.mark.parametrize(
    "generation",
    ["keras", "keras2", pytest.param("tf_keras", marks=pytest.mark.slow(reason="nearly the steps of Keras 3"))],
)
def test_every_step_is_reached(generation: Generation) -> None:
    """Among few kinds by day; within 3,000 draws of all at night."""
    kinds = None if everything() else ["Dense", "Activation", "Normalization", "LSTM", "Conv1D", "Flatten"]
    graphs = graphs_of(generation, kinds=kinds, features=FEATURES | STATES)
    there = {name for name, sort in STEPS.items() if generation in sort.generations}
    reached: set[str] = set()
    for each in evenly(graphs, examples(1200, 3000), 2):
        reached.update(step.does for step in each.graph.state)
        if reached == there:
            return
    assert reached == there


def test_a_model_that_is_cloned_on_other_inputs_has_a_state_as_well() -> None:
    graphs = graphs_of("keras", kinds=["Dense", "Dropout"], features=FEATURES | STATES | WAYS)
    drawn = [each.graph for each in evenly(graphs, 800, 4)]
    assert any(graph.way is not None and graph.state for graph in drawn)


def test_something_costly_is_done_at_a_rate() -> None:
    draw = random.Random(0)
    drawn = [[draw.randrange(256) for _ in range(DIGITS)] for _ in range(300)]

    def count(rate: int) -> int:
        return sum(costly(structs.replace(GRAPH, state=steps(GRAPH, digits, STATES, rate))) for digits in drawn)

    assert (count(0), count(1)) == (0, 300)
    assert 30 < count(6) < 70


def test_without_a_rate_no_model_is_trained() -> None:
    graphs = graphs_of("keras", features=FEATURES | STATES, state_rate=0)
    drawn = [each.graph for each in evenly(graphs, 150, 4)]
    assert any(graph.state for graph in drawn)
    assert not any(costly(graph) for graph in drawn)


@pytest.mark.parametrize(
    ("layer", "learns_"),
    [
        (Layer("Dense", (("units", 4),)), True),
        (Layer("Dense", (("units", 4),), trainable=False), False),
        (Layer("BatchNormalization", (("scale", False),)), False),
        (Layer("TimeDistributed", (("layer", Made(Layer("Dense", (("units", 4),)))),)), True),
        (Layer("ReLU"), False),
        (Layer("Model", graph=INNER), True),
        (Layer("Model", graph=structs.replace(INNER, trainable=False)), False),
    ],
)
def test_a_model_learns_where_a_weight_does(layer: Layer, learns_: bool) -> None:
    assert learns(structs.replace(INNER, layers=(layer,), generation="keras")) is learns_


def test_a_model_of_ones_own_layers_is_not_saved() -> None:
    whole = structs.replace(INNER, generation="keras")
    assert list(STEPS["load"].on(whole)) == [None]
    for layer in (Layer("Scale"), Layer("TimeDistributed", (("layer", Made(Layer("Scale"))),))):
        assert list(STEPS["load"].on(structs.replace(whole, layers=(layer,)))) == []


def test_a_layer_is_adapted_before_it_runs() -> None:
    layers = (Layer("Normalization"),)
    graph = Graph((Input((4,)),), layers, (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras")
    adapted, run = Step("adapt", "Normalization", (("data", Array((2, 4))),)), Step("run")
    well_typed(structs.replace(graph, state=(adapted, run)))
    with pytest.raises(MalformedGraph, match="before it is adapted"):
        well_typed(structs.replace(graph, state=(run, adapted)))


@pytest.mark.parametrize(
    ("layer", "suits"),
    [
        (Layer("Dense", (("units", 2),)), True),
        (Layer("LSTM", (("units", 2),)), True),
        (Layer("Dropout", (("rate", 0.5),)), False),
        (Layer("LSTM", (("units", 2), ("dropout", 0.5))), False),
        (Layer("TimeDistributed", (("layer", Made(Layer("Dropout", (("rate", 0.5),)))),)), False),
    ],
)
def test_nothing_that_draws_numbers_is_built_in_a_remat_scope(layer: Layer, suits: bool) -> None:
    graph = Graph((Input((3, 4)),), (layer,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras")
    assert bool(list(STEPS["remat"].on(graph))) is suits


@pytest.mark.parametrize(("kind", "suits"), [("SimpleRNN", False), ("Dense", True)])
def test_the_activations_of_a_recurrent_layer_are_not_computed_twice(kind: str, suits: bool) -> None:
    graph = structs.replace(INNER, layers=(Layer(kind, (("units", 4),)),), generation="keras")
    well_typed(structs.replace(graph, state=(Step("remat", None, (("mode", "full"),)),)))
    with contextlib.nullcontext() if suits else pytest.raises(MalformedGraph, match="remat"):
        well_typed(structs.replace(graph, state=(Step("remat", None, (("mode", "activations"),)),)))


def test_a_layer_is_called_once_more_on_its_input_where_that_is_what_it_takes() -> None:
    given = Items((("main", Ref(0)), ("rest", Seq((Ref(0),)))))
    for kind, argument, suits in (("ReLU", Ref(0), True), ("Assemble", given, False)):
        graph = Graph((Input((4,)),), (Layer(kind),), (Call(0, (argument,)),), Ref(0), Ref(1), generation="keras")
        called = structs.replace(graph, state=(Step("call", kind),))
        with contextlib.nullcontext() if suits else pytest.raises(MalformedGraph, match="call"):
            well_typed(called)


def test_what_is_done_is_done_before_the_model_is_saved() -> None:
    with pytest.raises(MalformedGraph, match="another was loaded"):
        well_typed(structs.replace(INNER, generation="keras", state=(Step("load"), Step("call", "Dense"))))
    draw, whole = random.Random(0), structs.replace(INNER, generation="keras")
    drawn = [steps(whole, [draw.randrange(256) for _ in range(DIGITS)], STATES, 1) for _ in range(400)]
    loaded = [[step.does for step in each] for each in drawn if Step("load") in each]
    assert any(len(each) > 1 for each in loaded)
    assert all(each[-1] == "load" for each in loaded)


@pytest.mark.parametrize(("generation", "suits"), [("keras2", False), ("tf_keras", True)])
def test_on_keras_2_what_a_layer_gave_is_known_as_long_as_it_was_called_once(
    generation: Generation, suits: bool
) -> None:
    state = (Step("call", "Dense"), Step("other model", "Dense"))
    with contextlib.nullcontext() if suits else pytest.raises(MalformedGraph, match="called once more"):
        well_typed(structs.replace(INNER, generation=generation, state=state))
    well_typed(structs.replace(INNER, generation=generation, state=state[::-1]))


@pytest.mark.parametrize(("kind", "learns_"), [("ops.tanh", True), ("ops.unique", False)])
def test_a_model_does_not_learn_through_what_has_no_gradient(kind: str, learns_: bool) -> None:
    args = (("size", 4), ("fill_value", 0.0)) if kind == "ops.unique" else ()
    layers = (Layer("Dense", (("units", 4),)), Layer(kind, args))
    graph = Graph((Input((3, 4)),), layers, (Call(0, (Ref(0),)), Call(1, (Ref(1),))), Ref(0), Ref(2))
    assert learns(structs.replace(graph, generation="keras")) is learns_


@pytest.mark.parametrize(("gives", "learns_"), [((2,), False), ((3,), True), ((3, 2), False)])
def test_a_model_learns_through_an_inner_model_where_each_output_needs_each_input(
    gives: tuple[int, ...], learns_: bool
) -> None:
    """An inner model may ignore the one tensor that a weight has made, and the outer the one output that needs it."""
    ends = tuple(map(Ref, gives))
    inner = Graph(
        (Input((4,)), Input((4,))),
        (Layer("ReLU"), Layer("Add")),
        (Call(0, (Ref(0),)), Call(1, (Seq((Ref(0), Ref(1))),))),
        Seq((Ref(0), Ref(1))),
        Seq(ends) if len(ends) > 1 else ends[0],
    )
    layers = (Layer("Dense", (("units", 4),)), Layer("Model", graph=inner))
    calls = (Call(0, (Ref(0),)), Call(1, (Seq((Ref(0), Ref(1))),), outputs=len(ends)))
    graph = Graph((Input((4,)),), layers, calls, Ref(0), Ref(2, len(ends) - 1), generation="keras")
    assert learns(graph) is learns_


@pytest.mark.parametrize(("dtype", "learns_"), [("float32", True), ("bfloat16", False)])
def test_a_model_does_not_learn_where_a_layer_is_given_another_dtype_and_casts_nothing(
    dtype: str, learns_: bool
) -> None:
    layer = Layer("PReLU", (("autocast", False),))
    inner = structs.replace(INNER, inputs=(Input((3, 4), dtype),), layers=(layer,))
    assert learns(structs.replace(inner, generation="keras")) is learns_
    around = structs.replace(inner, layers=(Layer("Model", graph=inner),), generation="keras")
    assert learns(around) is learns_


def test_a_model_learns_by_an_inner_model_where_each_output_has_a_weight() -> None:
    inner = structs.replace(INNER, gives=Seq((Ref(1), Ref(0))))
    layers, calls = (Layer("Model", graph=inner),), (Call(0, (Ref(0),), outputs=2),)
    graph = Graph((Input((3, 4)),), layers, calls, Ref(0), Ref(1, 1), generation="keras")
    assert not learns(graph)


@pytest.mark.parametrize(("generation", "learns_"), [("keras2", False), ("tf_keras", True)])
def test_on_keras_2_a_model_learns_where_each_weight_has_a_gradient(generation: Generation, learns_: bool) -> None:
    """The second output of a Bidirectional, with the weights of one direction, leads to nothing here."""
    both = Layer("Bidirectional", (("layer", Made(Layer("LSTM", (("units", 2),)))), ("merge_mode", None)))
    calls = (Call(0, (Ref(0),), outputs=2), Call(1, (Ref(1),)))
    graph = Graph((Input((3, 4)),), (both, Layer("Dense", (("units", 2),))), calls, Ref(0), Ref(2))
    assert learns(structs.replace(graph, generation=generation)) is learns_
    whole = structs.replace(graph, gives=Seq((Ref(2), Ref(1, 1))), generation=generation)
    assert learns(whole)


def test_a_graph_that_nothing_is_done_to_says_nothing_of_it() -> None:
    assert b"state" not in to_json(GRAPH)
    assert from_json(to_json(GRAPH)) == GRAPH


@pytest.mark.parametrize(
    ("axis", "masked", "learns_"), [("less", True, False), ("less", False, True), ("", True, True)]
)
def test_a_model_does_not_learn_where_a_mask_is_of_another_rank_than_the_loss(
    axis: Axis, masked: bool, learns_: bool
) -> None:
    """Keras 3 hands the mask on as it is, where a model is called with another axis."""
    inner = structs.replace(INNER, inputs=(Input((3, 2, 1) if axis else (3, 2)),))
    args = (("input_dim", 6), ("output_dim", 2), *((("mask_zero", True),) if masked else ()))
    layers = (Layer("Embedding", args), Layer("Model", graph=inner))
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(1),), axis=axis))
    graph = Graph((Input((3,), "int32", fill="ids", high=6),), layers, calls, Ref(0), Ref(2), generation="keras")
    assert learns(graph) is learns_


@pytest.mark.parametrize(("kind", "suits"), [("ops.i0", False), ("ReLU", True)])
@pytest.mark.parametrize("policy", ["policy", "built policy"])
def test_no_model_runs_whose_operations_have_another_dtype_by_a_policy(kind: str, policy: str, suits: bool) -> None:
    """TensorFlow has no BesselI0 of bfloat16: Keras builds the model, and cannot call it."""
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    layers = (Layer("Dense", (("units", 4),)), Layer(kind))
    graph = Graph((Input((4,)),), layers, calls, Ref(0), Ref(2), generation="keras")
    step = Step(policy, None, (("name", "mixed_bfloat16"),))
    well_typed(structs.replace(graph, state=(step,)))
    well_typed(structs.replace(graph, state=(Step("run"),)))
    with contextlib.nullcontext() if suits else pytest.raises(MalformedGraph, match="by a policy"):
        well_typed(structs.replace(graph, state=(step, Step("run"))))


@pytest.mark.parametrize("generation", ["keras", "tf_keras", "keras2"])
@pytest.mark.parametrize(("gap", "suits"), [(2, False), (Seq((2, 2), "tuple"), False), (1, True), (LEFT_OUT, True)])
def test_no_model_runs_with_a_transposed_convolution_that_no_cpu_computes(
    gap: Value, suits: bool, generation: Generation
) -> None:
    """TensorFlow on a CPU: "do not yet support dilation rates larger than 1"."""
    args = (("filters", 1), ("kernel_size", 2), *((("dilation_rate", gap),) if gap != LEFT_OUT else ()))
    layers = (Layer("Conv2DTranspose", args), Layer("Dense", (("units", 1),)))
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    graph = Graph((Input((1, 1, 1)),), layers, calls, Ref(0), Ref(2), generation=generation)
    well_typed(graph)
    with contextlib.nullcontext() if suits else pytest.raises(MalformedGraph, match="transposed convolution"):
        well_typed(structs.replace(graph, state=(Step("run"),)))
