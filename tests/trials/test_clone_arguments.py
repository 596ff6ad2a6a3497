"""A clone held against the model that is asked for, in a real process: what is faithful, and what is caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import pytest
from msgspec import structs

from clonediff import check_clone, clone_model
from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import run
from clonediff.reports.known import KnownIssues
from clonediff.strategies.graph import (
    Call,
    CallFunction,
    CloneArguments,
    CloneFunction,
    Function,
    Graph,
    Input,
    Layer,
    Made,
    Named,
    NewInputs,
    Preparation,
    Ref,
    Seq,
    Wrong,
)
from tests.planted import planted
from tests.strategies.test_clone_arguments import GRAPH, INNER, SORTS, SUITED, WIDE
from tests.waiting import PATIENCE
from tests.warm_keras import well_typed

from .trying import fixed_is_faithful, tried

CHAIN = Graph(
    (Input((3, 4)),),
    (Layer("Dense", (("units", 4),)), Layer("Dropout", (("rate", 0.5),))),
    (Call(0, (Ref(0),)), Call(1, (Ref(1),))),
    Ref(0),
    Ref(2),
    sequential=True,
)
ON_A_SEQUENTIAL = (
    CloneArguments(inputs="fresh"),
    CloneArguments(inputs="half"),
    CloneArguments(inputs="batch", clone_function=CloneFunction("renamed")),
    CloneArguments(clone_function=CloneFunction("kept", "Dropout")),
)
EVERY_ARGUMENT = structs.replace(
    GRAPH,
    inputs=(Input((3, 4), name="x"),),
    clone_arguments=CloneArguments(
        inputs="fresh",
        clone_function=CloneFunction("set", "Dense", "activation", "tanh"),
        call_function=CallFunction("after", "Dense"),
        recursive=True,
    ),
)
_CONDITION = (
    ("true_fn", Function("body", ("lambda: ops.ones((1,))",))),
    ("false_fn", Function("body", ("lambda: ops.zeros((1,))",))),
)
_ONE = Graph((Input((1,)),), (Layer("ops.cond", _CONDITION),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
_RATE = Function("rate lambda", ("0.5",))
LOOKS_OTHERWISE = {
    "a config that tells the batch that it was built on": Graph(
        (Input((3, 4)),),
        (Layer("MultiHeadAttention", (("num_heads", 1), ("key_dim", 2))),),
        (Call(0, (Ref(0), Ref(0))),),
        Ref(0),
        Ref(1),
        generation="tf_keras",
        clone_arguments=CloneArguments(inputs="batch"),
    ),
    "one that tells it of what it holds": Graph(
        (Input((3, 4)),),
        (Layer("Bidirectional", (("layer", Made(Layer("LSTM", (("units", 2),)))),)),),
        (Call(0, (Ref(0),)),),
        Ref(0),
        Ref(1),
        generation="keras",
        clone_arguments=CloneArguments(inputs="batch"),
    ),
    "a function that tells the line that it stands in": Graph(
        (Input((3, 4), name="x"),),
        (Layer("Dense", (("units", 4),)),),
        (Call(0, (Ref(0),)),),
        Ref(0),
        Ref(1),
        generation="keras",
        clone_arguments=CloneArguments(inputs="fresh"),
        preparations=(
            Preparation("compile", args=(("optimizer", Named("optimizers.SGD", (("learning_rate", _RATE),))),)),
        ),
    ),
    "a function that is compiled twice": Graph(
        (Input((1,)),),
        (Layer("Model", graph=_ONE),),
        (Call(0, (Ref(0),)),),
        Ref(0),
        Ref(1),
        generation="keras",
        clone_arguments=CloneArguments(recursive=True),
    ),
}


@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_fixed_makes_what_is_asked_for(generation: str, warm: Callable[[str], SubjectProcess]) -> None:
    process = warm(generation)
    only = GRAPH if generation == "keras" else structs.replace(GRAPH, generation="tf_keras")
    taken = [
        clone_arguments
        for clone_arguments in SUITED
        if generation == "keras" or (clone_arguments.call_function is None and not clone_arguments.recursive)
    ]
    graphs = [
        structs.replace(only, clone_arguments=clone_arguments)
        for clone_arguments in taken
        if generation == "keras" or _of_keras_2(clone_arguments)
    ]
    graphs += [
        structs.replace(CHAIN, generation=generation, clone_arguments=clone_arguments)
        for clone_arguments in ON_A_SEQUENTIAL
    ]
    for graph in graphs:
        fixed_is_faithful(graph, process)


def _of_keras_2(clone_arguments: CloneArguments) -> bool:
    """Without what Keras 3 alone takes, or what renames operations, which are layers in Keras 2."""
    renames = clone_arguments.clone_function is not None and clone_arguments.clone_function == CloneFunction("renamed")
    return (
        clone_arguments.inputs not in ("listed", "made")
        and not renames
        and clone_arguments.wrong not in ("call", "numbers")
    )


@pytest.mark.parametrize("how", SORTS)
@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_fixed_clones_on_inputs_of_another_sort(
    how: NewInputs, generation: str, warm: Callable[[str], SubjectProcess]
) -> None:
    graph = structs.replace(WIDE, generation=generation, clone_arguments=CloneArguments(inputs=how))
    fixed_is_faithful(graph, warm(generation))


@pytest.mark.parametrize("how", ["half", "double"])
def test_a_number_before_an_operator_is_cloned_on_inputs_of_another_dtype(
    how: NewInputs, warm: Callable[[str], SubjectProcess]
) -> None:
    layers, calls = (Layer("operator.from_one"),), (Call(0, (Ref(0),)),)
    graph = Graph(
        (Input((3,)),), layers, calls, Ref(0), Ref(1), generation="tf_keras", clone_arguments=CloneArguments(inputs=how)
    )
    well_typed(graph)
    fixed_is_faithful(graph, warm("tf_keras"))


def test_nothing_compiles_the_clone_of_a_compiled_model_of_tf_keras_whatever_it_is_given() -> None:
    compiled = structs.replace(CHAIN, sequential=False, generation="tf_keras", preparations=(Preparation("compile"),))
    for clone_arguments in (None, CloneArguments(inputs="fresh")):
        case = case_of(structs.replace(compiled, clone_arguments=clone_arguments), "tf_keras")
        assert case.promises == "not compiled"


def test_a_mask_that_the_user_has_given_once_more_is_no_mask_that_keras_wrote_down(keras: SubjectProcess) -> None:
    layers = (Layer("LSTM", (("units", 4), ("return_sequences", True))), Layer("LSTM", (("units", 4),)))
    calls = (Call(0, (Ref(0),), (("mask", Ref(1)),)), Call(1, (Ref(2),), (("mask", Ref(1)),)))
    inputs = (Input((3, 4)), Input((3,), "bool", fill="mask"))
    graph = Graph(
        inputs,
        layers,
        calls,
        Seq((Ref(0), Ref(1))),
        Ref(3),
        generation="keras",
        clone_arguments=CloneArguments(inputs="fresh"),
    )
    well_typed(graph)
    fixed_is_faithful(graph, keras)


def test_a_clone_that_never_ends_is_stopped_by_what_its_model_took(
    warm: Callable[[str], SubjectProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    process = warm("tf_keras")
    monkeypatch.setattr(process, "limits", replace(process.limits, cloning=0.5))
    trials, restarts, recycled = process.trials, process.restarts, process.recycled
    graph = structs.replace(
        CHAIN, sequential=False, generation="tf_keras", clone_arguments=CloneArguments(inputs="made")
    )
    clones = tried(graph, process, "fixed", "upstream")
    assert (process.trials, process.restarts) == (trials + 2, restarts)
    assert process.recycled == recycled + 1, "what is said of fixed is said by a child in which nothing was stopped"
    assert {name: clone.verdict for name, clone in clones.items()} == {
        "upstream": Verdict.TIMED_OUT,
        "fixed": Verdict.FAITHFUL,
    }
    (difference,) = clones["upstream"].differences
    assert difference.raised is not None
    assert difference.raised.frame == "tf_keras/src/engine/functional.py:reconstruct_from_config"


@pytest.mark.parametrize("name", LOOKS_OTHERWISE)
def test_what_only_looks_otherwise_is_no_fault(name: str, warm: Callable[[str], SubjectProcess]) -> None:
    graph = LOOKS_OTHERWISE[name]
    assert graph.generation is not None
    well_typed(graph)
    clones = tried(graph, warm(graph.generation), "fixed", "upstream")
    assert clones["fixed"].differences == ()
    assert not [each for each in clones["upstream"].differences if each.aspect.startswith(("config.", "call."))]


_DEEP = Graph((Input((3, 4)),), (Layer("Model", graph=INNER),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
_NAMED = structs.replace(
    _DEEP,
    inputs=(Input((3, 4), name="x"),),
    layers=(Layer("Model", graph=structs.replace(INNER, inputs=(Input((3, 4), name="y"),))),),
)
_WRAPPED = Graph(
    (Input((3, 4), name="x"),),
    (
        Layer("Dampen", (("layer", Made(Layer("Dense", (("units", 4),)))),)),
        Layer("TimeDistributed", (("layer", Made(Layer("Dense", (("units", 2),)))),)),
    ),
    (Call(0, (Ref(0),)), Call(1, (Ref(1),))),
    Ref(0),
    Ref(2),
)
_OF_CHANNELS = Graph(
    (Input((5, 3), name="x"),),
    (Layer("AveragePooling1D", (("pool_size", 2),)), Layer("BatchNormalization"), Layer("Dropout", (("rate", 0.5),))),
    (Call(0, (Ref(0),)), Call(1, (Ref(1),)), Call(2, (Ref(2),))),
    Ref(0),
    Ref(3),
)
_CHANNELS_FIRST = CloneArguments("transposed", CloneFunction("channels first"))
_TO_TANH = CloneFunction("set", "Dense", "activation", "tanh", recurses=True)
_MASKED = Graph(
    (Input((3,), "int32", fill="ids", high=6),),
    (Layer("Embedding", (("input_dim", 6), ("output_dim", 1), ("mask_zero", True))), Layer("LSTM", (("units", 1),))),
    (Call(0, (Ref(0),)), Call(1, (Ref(1),))),
    Ref(0),
    Ref(2),
    generation="keras",
)
AS_USERS_WRITE_THEM = {
    "a wrapper is taken away": (_WRAPPED, CloneArguments(clone_function=CloneFunction("unwrapped", "Dampen"))),
    "what is within it is kept": (
        _WRAPPED,
        CloneArguments(clone_function=CloneFunction("unwrapped", "Dampen", others="kept")),
    ),
    "channels come first": (_OF_CHANNELS, _CHANNELS_FIRST),
    "for one kind": (
        _OF_CHANNELS,
        CloneArguments(clone_function=CloneFunction("channels first", "BatchNormalization")),
    ),
    "models are cloned with the function itself": (_NAMED, CloneArguments(clone_function=_TO_TANH)),
    "and their layers kept": (_NAMED, CloneArguments(clone_function=CloneFunction("kept", recurses=True))),
}


@pytest.mark.parametrize("name", AS_USERS_WRITE_THEM)
@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_functions_as_users_write_them_do_what_is_asked(
    name: str, generation: Literal["keras", "tf_keras"], warm: Callable[[str], SubjectProcess]
) -> None:
    graph, clone_arguments = AS_USERS_WRITE_THEM[name]
    graph = structs.replace(graph, generation=generation, clone_arguments=clone_arguments)
    well_typed(graph)
    clones = tried(graph, warm(generation), "upstream", "fixed")
    assert [each.differences for each in clones.values()] == [(), ()]


@pytest.mark.parametrize("within", [INNER, structs.replace(INNER, sequential=True)], ids=["functional", "sequential"])
def test_a_function_that_recurses_calls_whoever_clones(within: Graph, keras: SubjectProcess) -> None:
    """With `recursive` Keras goes into the model before the function does, and hands on what it was given."""
    graph = structs.replace(_DEEP, layers=(Layer("Model", graph=within),), generation="keras")
    for recursive in (False, True):
        given = CloneArguments("", _TO_TANH, CallFunction("after", "Dense"), recursive)
        each = structs.replace(graph, clone_arguments=given)
        well_typed(each)
        fixed_is_faithful(each, keras)


@pytest.mark.parametrize("takes", [Ref(0), Seq((Ref(0),))], ids=["a tensor", "in a list"])
def test_a_clone_begins_at_a_tensor_of_the_model_itself_and_leaves_that_as_it_was(
    takes: Ref | Seq, keras: SubjectProcess
) -> None:
    graph = structs.replace(INNER, takes=takes, generation="keras", clone_arguments=CloneArguments(inputs="inner"))
    well_typed(graph)
    clones = tried(graph, keras, "upstream", "fixed")
    assert clones["upstream"].differences == clones["fixed"].differences == ()


def test_fixed_does_so_where_tf_keras_itself_never_ends(warm: Callable[[str], SubjectProcess]) -> None:
    graph = structs.replace(INNER, generation="tf_keras", clone_arguments=CloneArguments(inputs="inner"))
    fixed_is_faithful(graph, warm("tf_keras"))


def test_what_a_function_makes_again_is_built_within_another_name_in_tf_keras(
    warm: Callable[[str], SubjectProcess],
) -> None:
    one = Graph((Input((1,)),), (Layer("Scale"),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
    graph = structs.replace(one, layers=(Layer("Sequential", graph=one),), generation="tf_keras")
    graph = structs.replace(graph, clone_arguments=CloneArguments(clone_function=CloneFunction()))
    clones = tried(graph, warm("tf_keras"), "upstream", "fixed", costly=True)
    assert {clone.verdict for clone in clones.values()} == {Verdict.FAITHFUL}


@pytest.mark.parametrize("wrong", ["function", "call", "text"])
def test_what_is_plainly_wrong_and_taken_without_a_word_is_told(wrong: Wrong, keras: SubjectProcess) -> None:
    graph = structs.replace(GRAPH, clone_arguments=CloneArguments(wrong=wrong))
    name = {"function": "clone_function", "call": "call_function", "text": "input_tensors"}[wrong]
    broken = planted(f"{name}_ignored")
    assert [each.aspect for each in tried(graph, keras, broken)[broken].differences] == ["no error"]


def test_a_call_function_for_a_sequential_is_refused_clearly(keras: SubjectProcess) -> None:
    graph = structs.replace(CHAIN, generation="keras", clone_arguments=CloneArguments(wrong="call"))
    well_typed(graph)
    assert [each.differences for each in tried(graph, keras, "upstream", "fixed").values()] == [(), ()]


def test_what_comes_of_an_accident_is_no_clear_error(keras: SubjectProcess) -> None:
    clones = tried(structs.replace(GRAPH, clone_arguments=CloneArguments(wrong="function")), keras, "upstream")
    assert [each.aspect for each in clones["upstream"].differences] == ["unclear error"]


def test_a_cause_says_what_clone_model_was_given(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues(), cloners=(planted("call_function_ignored"),))
    graph = structs.replace(GRAPH, clone_arguments=CloneArguments(call_function=CallFunction("after", "Dropout")))
    hits = trials.try_graph(graph).hits
    assert hits
    assert all(hit.cause is not None and hit.cause.given == ("call_function",) for hit in hits)
    assert all(hit.title.endswith(", with call_function") for hit in hits)


@pytest.mark.parametrize("inputs", ["", "own", "fresh"])
def test_layers_that_are_to_be_kept_are_no_fault(inputs: NewInputs, keras: SubjectProcess) -> None:
    kept = structs.replace(GRAPH, clone_arguments=CloneArguments(inputs, CloneFunction("kept")))
    fixed_is_faithful(kept, keras)


def test_layers_that_nobody_asked_to_be_kept_are_a_fault(keras: SubjectProcess) -> None:
    shared = structs.replace(GRAPH, clone_arguments=CloneArguments(inputs="fresh"))
    broken = planted("layer_shared_with_original")
    assert "layer shared" in {each.aspect for each in tried(shared, keras, broken)[broken].differences}


def test_layers_that_are_kept_until_one_raises_are_called_again_and_no_fault(keras: SubjectProcess) -> None:
    clone_arguments = CloneArguments(clone_function=CloneFunction("raises", "Dropout", others="kept"))
    graph = structs.replace(INNER, generation="keras", layers=(*INNER.layers, Layer("Dropout", (("rate", 0.5),))))
    graph = structs.replace(
        graph, calls=(*graph.calls, Call(1, (Ref(1),))), gives=Ref(2), clone_arguments=clone_arguments
    )
    well_typed(graph)
    clones = tried(graph, keras, "fixed", "upstream")
    assert [each.differences for each in clones.values()] == [(), ()]


def test_a_cloner_that_takes_a_model_only_is_not_tried_and_says_so(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues(), cloners=("from_config",))
    tried = trials.try_or_say_why_not(structs.replace(GRAPH, clone_arguments=CloneArguments(inputs="fresh")))
    assert "takes a model and nothing else" in tried.not_tried


def test_a_cloner_of_another_project_is_given_the_arguments() -> None:
    check_clone(structs.replace(CHAIN, generation="keras", clone_arguments=CloneArguments(inputs="batch")), clone_model)


def test_an_original_whose_layers_a_clone_has_is_not_doubted_for_what_was_given_to_that(keras: SubjectProcess) -> None:
    layers = (Layer("Activation", (("activation", "relu"),)), Layer("Dense", (("units", 4),)), Layer("Join"))
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(2),)), Call(2, (Ref(3), None, Ref(3)), (("other", Ref(1)),)))
    inputs = (Input((3, 4)), Input((3, 4), optional=True, fill="nothing"))
    clone_arguments = CloneArguments(clone_function=CloneFunction("dense", "Activation", value=4, others="kept"))
    graph = Graph(
        inputs, layers, calls, Seq((Ref(0), Ref(1))), Ref(4), generation="keras", clone_arguments=clone_arguments
    )
    well_typed(graph)
    trial = run(case_of(graph, "keras"), keras, ("upstream", "fixed"), timeout=PATIENCE)
    assert trial.refused is None
    assert trial.clones["upstream"].verdict is Verdict.DIVERGED, "so that the original is called again"
    assert trial.clones["fixed"].verdict is Verdict.FAITHFUL


@pytest.mark.parametrize(("generation", "repeats"), [("keras", True), ("tf_keras", False)])
def test_what_tf_keras_makes_of_what_layers_gave_is_not_cloned_on_the_same(
    generation: Literal["keras", "tf_keras"], repeats: bool
) -> None:
    graph = structs.replace(INNER, generation=generation, clone_arguments=CloneArguments(inputs="made"))
    assert case_of(graph, generation).repeats is repeats


def test_a_sequential_whose_first_layer_a_function_makes_is_asked_for_with_an_input() -> None:
    shaped = structs.replace(INNER, sequential=True, built="by its first layer")
    graph = Graph((Input((3, 4)),), (Layer("Sequential", graph=shaped),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
    graph = structs.replace(
        graph, generation="keras", clone_arguments=CloneArguments(recursive=True, clone_function=CloneFunction())
    )
    case = case_of(graph, "keras")
    assert "input_shape=(3, 4)" in case.source
    assert "keras.Sequential([keras.Input(shape=(3, 4)), clone_function(" in case.asked
