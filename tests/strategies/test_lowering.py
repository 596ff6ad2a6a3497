"""What a program means: only what its outputs need, unless it asks for strays; no mask beside a missing one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from strategies import Graph, MalformedGraph, infer
from strategies.drawn_states import DIGITS
from strategies.graph import Array, Call, Input, Layer, Ref, Seq, all_layers, fed_refs, refs
from strategies.kinds import Generation, Spec, same_weights
from strategies.learning import learns
from strategies.lowering import lower
from strategies.programs import Again, Apply, Nest, Program
from strategies.typing import fed

DENSE = (("units", 4),)
STRAY = Program((Input((3, 4)), Input((4,))), (Apply("Dense", (1,), 0, DENSE), Apply("Dense", (2,), 0, DENSE)), (1,))


def test_what_no_output_needs_is_left_out() -> None:
    graph = lower(STRAY)
    assert (len(graph.inputs), len(graph.layers), len(graph.calls)) == (1, 1, 1)
    assert graph.gives == Ref(1)


def test_strays_stay_where_they_are_asked_for() -> None:
    program = Program(STRAY.inputs, STRAY.body, STRAY.outputs, strays=True)
    graph = lower(program)
    assert (len(graph.inputs), len(graph.layers), len(graph.calls)) == (2, 2, 2)


@pytest.mark.parametrize(("generation", "calls"), [("keras2", 1), ("keras", 2)])
def test_in_keras_2_no_call_beside_the_model_costs_something(generation: Generation, calls: int) -> None:
    """Keras 2 asks a layer what its calls cost by what they are on, and so counts one beside the model, too."""
    body = (Apply("ActivityRegularization", (0,), 1), Again(0, (0,), 2))
    program = Program((Input((4,)),), body, (2,), strays=True, generation=generation)
    assert len(lower(program).calls) == calls


@pytest.mark.parametrize(("kind", "serve"), [("PReLU", False), ("LocallyConnected2D", False), ("Conv2D", True)])
def test_weights_for_each_place_serve_one_shape(kind: str, serve: bool) -> None:
    assert same_weights(Layer(kind), (Spec((3, 3, 2)),), (Spec((4, 4, 2)),)) == serve


@pytest.mark.parametrize(("generation", "serve"), [("keras2", False), ("keras", True)])
def test_a_time_distributed_of_keras_2_is_called_on_as_many_steps(generation: Generation, serve: bool) -> None:
    assert same_weights(Layer("TimeDistributed"), (Spec((3, 2)),), (Spec((4, 2)),), generation) == serve


@pytest.mark.parametrize("axis", [-1, 1])
def test_masks_are_not_put_in_a_row(axis: int) -> None:
    graph = Graph(
        inputs=(Input((3, 4)),),
        layers=(Layer("Masking"), Layer("Concatenate", () if axis == -1 else (("axis", axis),))),
        calls=(Call(0, (Ref(0),)), Call(1, (Seq((Ref(0), Ref(1))),))),
        takes=Ref(0),
        gives=Ref(2),
    )
    if axis == -1:
        infer(graph)
        return
    with pytest.raises(MalformedGraph, match="Concatenate cannot be called"):
        infer(graph)


def test_a_mask_of_the_call_is_handed_on_like_one_of_the_tensor() -> None:
    graph = Graph(
        inputs=(Input((3, 4)), Input((3,), "bool", fill="mask")),
        layers=(Layer("UseMask"), Layer("Concatenate", (("axis", 1),))),
        calls=(Call(0, (Ref(0),), (("mask", Ref(1)),)), Call(1, (Seq((Ref(0), Ref(2))),))),
        takes=Seq((Ref(0), Ref(1))),
        gives=Ref(3),
    )
    with pytest.raises(MalformedGraph, match="Concatenate cannot be called"):
        infer(graph)
    body = (Apply("UseMask", (1,), 1, way="mask"), Apply("Concatenate", (1, 2), options=(("axis", 1),)))
    lowered = lower(Program(graph.inputs, body, (1, 2)))
    assert [ref.node for call in lowered.calls for ref in fed_refs(call)] == [0, 0, 0]


def test_the_mask_of_a_sequence_is_handed_on_beside_the_states() -> None:
    """`RNN.compute_mask` answers with the mask and a None for each state."""
    rnn = Layer("SimpleRNN", (("units", 2), ("return_sequences", True), ("return_state", True)))
    graph = Graph(
        inputs=(Input((3, 4)),),
        layers=(Layer("Masking"), rnn),
        calls=(Call(0, (Ref(0),)), Call(1, (Ref(1),), outputs=2)),
        takes=Ref(0),
        gives=Ref(2),
    )
    assert [spec.mask for spec in infer(graph)[2]] == [True, False]


def test_a_sequential_is_made_of_what_links() -> None:
    body = (Apply("Dense", (2,), 2, DENSE), Apply("Add", (0, 0)), Apply("Dense", (3,), 1, DENSE))
    graph = lower(Program(STRAY.inputs, body, (1,), sequential=True, takes="dict", gives="list"))
    assert graph.sequential
    assert [layer.kind for layer in graph.layers] == ["Dense", "Dense"]
    assert (graph.takes, graph.gives) == (Ref(0), Ref(2))
    infer(graph)


def test_a_sequential_of_nothing_is_an_ordinary_model() -> None:
    graph = lower(Program(STRAY.inputs, (Apply("Add", (0, 0)),), (0,), sequential=True))
    assert not graph.sequential


@pytest.mark.parametrize(("operation", "looked_up"), [("ops.bitwise_and", False), ("ops.bitwise_right_shift", True)])
def test_whole_numbers_that_may_have_grown_are_not_looked_up(operation: str, looked_up: bool) -> None:
    one = Array((1,), "int32")
    graph = Graph(
        inputs=(Input((3,), "int32", fill="ids", high=6),),
        layers=(Layer(operation, (("y", one),)), Layer("Embedding", (("input_dim", 6), ("output_dim", 2)))),
        calls=(Call(0, (Ref(0),)), Call(1, (Ref(1),))),
        takes=Ref(0),
        gives=Ref(2),
    )
    if looked_up:
        infer(graph)
        return
    with pytest.raises(MalformedGraph, match="Embedding cannot be called"):
        infer(graph)


@pytest.mark.parametrize(("shape", "fits"), [((3, 3, 1), True), ((3, 2, 1), False), ((1, 1, 1), False)])
def test_no_image_is_smaller_than_the_filter_it_is_compared_with(shape: tuple[int, ...], fits: bool) -> None:
    ssim = Layer("ops.image.ssim", (("filter_size", 3),))
    graph = Graph((Input(shape),), (ssim,), (Call(0, (Ref(0), Ref(0))),), takes=Ref(0), gives=Ref(1))
    if fits:
        infer(graph)
        return
    with pytest.raises(MalformedGraph, match="ops.image.ssim cannot be called"):
        infer(graph)


def test_a_nested_model_has_no_input_of_numbers_that_may_have_grown() -> None:
    grown = Apply("ops.bitwise_or", options=(("y", Array((1,), "int32")),))
    inner = Nest((Apply("Embedding", options=(("input_dim", 6), ("output_dim", 2))),))
    ids = (Input((3,), "int32", fill="ids", high=6),)
    kinds = [layer.kind for layer in lower(Program(ids, (grown, inner))).layers]
    assert kinds == ["ops.bitwise_or"]
    assert [layer.kind for layer in lower(Program(ids, (inner,))).layers] == ["Model"]


RAGGED, SPARSE = Input((None, 4), ragged=True), Input((4,), sparse=True)
STEPS = frozenset(("name scope",))
ON_RAGGED = Program((Input((4,)), RAGGED), (Nest(()),), (2,), generation="keras", ragged=36)
"""A `GlobalAveragePooling1D` in a model, on a ragged input; beside a model of nothing, which is not made."""


@pytest.mark.parametrize("given", [RAGGED, SPARSE], ids=["ragged", "sparse"])
def test_something_is_done_to_a_model_whatever_its_inputs_are(given: Input) -> None:
    program = replace(ON_RAGGED, inputs=(Input((4,)), given), state=(0,) * DIGITS, steps=STEPS)
    assert [step.does for step in lower(program).state] == ["name scope"]


def test_what_is_no_plain_input_is_not_taken_twice() -> None:
    plain = lower(replace(STRAY, repeats=True, generation="keras"))
    assert list(refs(plain.takes)) == [Ref(0), Ref(0)]
    assert list(refs(lower(replace(ON_RAGGED, repeats=True)).takes)) == [Ref(0)]


@pytest.mark.parametrize(("number", "sequential"), [(36, False), (48, True)])
def test_a_ragged_input_may_go_into_a_model(number: int, sequential: bool) -> None:
    graph = lower(replace(ON_RAGGED, ragged=number))
    inner = graph.layers[graph.calls[0].layer].graph
    assert inner is not None
    assert (inner.inputs, inner.sequential) == ((RAGGED,), sequential)
    alone = lower(replace(ON_RAGGED, ragged=number, body=()))
    assert [layer.kind for layer in alone.layers] == ["GlobalAveragePooling1D"]


def test_a_model_that_takes_a_ragged_tensor_takes_no_other() -> None:
    body = (Nest((Apply("GlobalAveragePooling1D"),), (2,)), Again(0, (1,)), Again(0, (3,)))
    inputs = (Input((None, 8)), RAGGED, RAGGED)
    graph = lower(replace(ON_RAGGED, inputs=inputs, body=body, strays=True, ragged=1))
    calls = [call for call in graph.calls if graph.layers[call.layer].graph is not None]
    assert len(calls) == 3
    assert len({call.layer for call in calls}) == 1
    assert all(spec.ragged for call in calls for spec in fed(call, infer(graph)))
    dense = structs.replace(graph, calls=(*graph.calls[:-1], structs.replace(calls[-1], args=(Ref(0),))))
    with pytest.raises(MalformedGraph, match="a ragged tensor for each ragged input"):
        infer(dense)


@pytest.mark.parametrize(("given", "kind"), [(RAGGED, "LayerNormalization"), (SPARSE, "Dense")])
def test_what_a_special_input_is_given_to_is_called_again_only_beside_a_layer_of_the_program(
    given: Input, kind: str
) -> None:
    program = replace(ON_RAGGED, inputs=(given,), body=(Again(),), outputs=(0,), ragged=2)
    alone = lower(program)
    assert [alone.layers[call.layer].kind for call in alone.calls] == [kind]
    beside = lower(replace(program, body=(Apply("LayerNormalization"), Again(1))))
    assert [beside.layers[call.layer].kind for call in beside.calls] == [kind, "LayerNormalization", kind]


def test_whether_a_model_learns_is_known_of_one_with_a_ragged_input_inside() -> None:
    """Whether a layer takes ragged tensors depends on the generation, which the inner model does not say."""
    graph = lower(replace(ON_RAGGED, ragged=38))
    assert [layer.kind for layer in all_layers(graph)] == ["Model", "LayerNormalization"]
    assert learns(graph)


def test_images_that_are_scaled_by_chance_are_not_added() -> None:
    heights = tuple(Apply("RandomHeight", (1,), place, (("factor", 0.5),)) for place in (1, 2))
    program = Program((Input((4, 4, 2)),), (*heights, Apply("Add", (2, 3))), (2, 3), generation="tf_keras")
    graph = lower(program)
    assert [layer.kind for layer in graph.layers] == ["RandomHeight", "RandomHeight", "Add"]
    assert len(set(fed_refs(graph.calls[-1]))) == 1


def test_a_model_that_takes_a_ragged_tensor_is_given_nothing_else() -> None:
    graph = lower(ON_RAGGED)
    called = structs.replace(graph.calls[0], kwargs=(("training", True),))
    with pytest.raises(MalformedGraph, match="nothing beside the tensors"):
        infer(structs.replace(graph, calls=(called,)))
    pooled = (Apply("GlobalAveragePooling1D"),)
    for asked in (Nest(pooled, (2,), given="training"), Nest(pooled, (2,), axis="less"), Nest(pooled, (2,), own=0)):
        call = lower(replace(ON_RAGGED, body=(asked,), outputs=(0,), ragged=1)).calls[-1]
        assert (call.kwargs, call.axis) == ((), "")
    inner = lower(replace(ON_RAGGED, body=(Nest(pooled, (2,), own=0),), outputs=(0,), ragged=1)).layers[-1].graph
    assert inner is not None
    assert inner.own is None


def test_what_adds_images_is_not_called_again_on_such() -> None:
    heights = tuple(Apply("RandomHeight", (1,), place, (("factor", 0.5),)) for place in (1, 2))
    body = (Apply("Add", (1, 1), 0), *heights, Again(2, (2, 3)))
    graph = lower(Program((Input((4, 4, 2)),), body, (0, 2, 3), generation="tf_keras", strays=True))
    added = [call for call in graph.calls if graph.layers[call.layer].kind == "Add"]
    assert len(added) == 2
    assert all(len(set(fed_refs(call))) == 1 for call in added)
