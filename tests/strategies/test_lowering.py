"""What a program means: only what its outputs need, unless it asks for strays; no mask beside a missing one."""

from __future__ import annotations

import pytest

from clonediff.strategies import Graph, MalformedGraph, infer, lowering
from clonediff.strategies.drawn_preparations import DIGITS
from clonediff.strategies.graph import Call, Input, Layer, Ref, Seq
from clonediff.strategies.programs import Apply, Program
from tests.warm_keras import lowered

DENSE = (("units", 4),)
STRAY = Program((Input((3, 4)), Input((4,))), (Apply("Dense", (1,), 0, DENSE), Apply("Dense", (2,), 0, DENSE)), (1,))


def test_an_option_that_keras_refuses_is_left_out_of_the_layer() -> None:
    """The factor of a RandomGrayscale is a number; the layer is there without it."""
    refused = Apply("RandomGrayscale", options=(("factor", Seq((0.25, 0.5), "tuple")), ("seed", 7)))
    graph = lowered(Program((Input((4, 4, 3)),), (refused,)))
    assert graph.layers == (Layer("RandomGrayscale"),)


def test_what_no_output_needs_is_left_out() -> None:
    graph = lowered(STRAY)
    assert (len(graph.inputs), len(graph.layers), len(graph.calls)) == (1, 1, 1)
    assert graph.gives == Ref(1)


def test_strays_stay_where_they_are_asked_for() -> None:
    program = Program(STRAY.inputs, STRAY.body, STRAY.outputs, strays=True)
    graph = lowered(program)
    assert (len(graph.inputs), len(graph.layers), len(graph.calls)) == (2, 2, 2)


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
    graph = lowered(Program(STRAY.inputs, body, (1,), sequential=True, takes="dict", gives="list"))
    assert graph.sequential
    assert [layer.kind for layer in graph.layers] == ["Dense", "Dense"]
    assert (graph.takes, graph.gives) == (Ref(0), Ref(2))
    infer(graph)


def test_a_sequential_of_nothing_is_an_ordinary_model() -> None:
    graph = lowered(Program(STRAY.inputs, (Apply("Add", (0, 0)),), (0,), sequential=True))
    assert not graph.sequential


def test_what_keras_refuses_once_the_rest_is_gone_is_left_to_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise MalformedGraph("Keras does not take this call")

    program = Program(STRAY.inputs, STRAY.body, STRAY.outputs, preparations=(0,) * DIGITS)
    monkeypatch.setattr(lowering, "preparations_of", refuse)
    assert lowered(program) == lowered(STRAY)
