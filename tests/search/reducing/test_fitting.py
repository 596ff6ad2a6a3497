"""What an edit leaves to be derived: fitting finds it, and changes nothing that fits already."""

from __future__ import annotations

import pytest
from harness.search.reducing.oddities import oddities
from hypothesis import given, settings
from msgspec import structs

from harness.search.even_draws import evenly
from harness.search.reducing.drawn import arranged, choices
from harness.search.reducing.fitting import fitted
from harness.source import write_source
from strategies import Graph, MalformedGraph, infer
from strategies.graph import Array, Call, Function, Input, Items, Layer, Ref, Seq, refs
from strategies.kinds import GENERATIONS, Generation, catalogue
from tests.asked import graphs_of
from tests.effort import examples


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_drawn_graph_fits_and_has_nothing_odd(generation: Generation) -> None:
    @settings(max_examples=examples(60, 150), deadline=None)
    @given(graphs_of(generation))
    def holds(graph: Graph) -> None:
        assert fitted(graph) == graph
        assert oddities(graph) == frozenset()

    holds()


@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_choices_behind_a_layer_mean_that_layer(generation: Generation) -> None:
    kinds = catalogue(generation)
    met: set[str] = set()

    arranged_ones = [name for name, kind in kinds.items() if kind.arrange and kind.only in (None, generation)]
    for each in evenly(graphs_of(generation, kinds=arranged_ones), 200, 0):
        graph = each.graph
        specs = infer(graph)
        seen: set[int] = set()
        for call in graph.calls:
            layer = graph.layers[call.layer]
            if layer.graph is not None or kinds[layer.kind].arrange is None or call.layer in seen:
                continue
            seen.add(call.layer)
            met.add(layer.kind)
            given_ = tuple(specs[ref.node][ref.output] for value in call.args for ref in refs(value))
            kind = kinds[layer.kind]
            assert told(arranged(layer, kind, given_, choices(layer, kind, given_))) == told(layer)
    assert met >= {name for name, kind in kinds.items() if kind.arrange and kind.family != "operations"}
    assert len(met) > 0.7 * len(arranged_ones)


def told(layer: Layer) -> Layer:
    """The layer, but for a first expression that a mask which then did not suit the tensors has changed."""
    function = layer.arg("function")
    if not isinstance(function, Function) or function.form not in ("training", "mask") or layer.arg("mask") is not None:
        return layer
    texts = structs.replace(function, gives=("...", *function.gives[1:]))
    return structs.replace(layer, args=(("function", texts), *layer.args[1:]))


MASKED = Layer(
    "Lambda",
    (
        ("function", Function("lambda", ("x * 2.0", "x + 1.0"), "list")),
        ("output_shape", Seq((Seq((3, 4), "tuple"), Seq((3, 4), "tuple")))),
        ("mask", Seq((Array((2, 3), "bool", tensor=True),) * 2)),
    ),
)


def test_arguments_that_follow_from_the_tensors_follow_them() -> None:
    graph = Graph(
        inputs=(Input((3, 4)),),
        layers=(
            MASKED,
            Layer("Reshape", (("target_shape", Seq((4, 3), "tuple")),)),
            Layer("Permute", (("dims", Seq((2, 1), "tuple")),)),
        ),
        calls=(Call(0, (Ref(0),), outputs=2), Call(1, (Ref(1, 1),)), Call(2, (Ref(2),))),
        takes=Ref(0),
        gives=Seq((Ref(1), Ref(3))),
        generation="keras",
    )
    infer(graph)
    narrow = structs.replace(graph, inputs=(Input((5, 1)),))
    with pytest.raises(MalformedGraph):
        infer(narrow)
    assert "Lambda(lambda x: [x * 2.0, x + 1.0], output_shape=[(5, 1), (5, 1)]" in write_source(fitted(narrow), "keras")
    assert "np.arange(10).reshape(2, 5)" in write_source(fitted(narrow), "keras")
    assert "layers.Reshape((1, 5))" in write_source(fitted(narrow), "keras")
    infer(fitted(narrow))


def test_an_inner_model_takes_what_it_is_given() -> None:
    inner = Graph((Input((4,)),), (Layer("Dense", (("units", 3),)),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
    graph = Graph((Input((7,)),), (Layer("Model", graph=inner),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
    fit = fitted(graph).layers[0].graph
    assert fit is not None and fit.inputs == (Input((7,)),)


@pytest.mark.parametrize(
    ("graph", "odd"),
    [
        pytest.param(
            Graph((Input((4,)),), (), (), Ref(0), Ref(0), generation="keras2"), "an input given back", id="input-given"
        ),
        pytest.param(
            Graph((Input((4,)),), (), (), Ref(0), Ref(0), sequential=True),
            "a Sequential without a layer",
            id="empty-sequential",
        ),
        pytest.param(
            Graph(
                (Input((4,)), Input((3,))),
                (Layer("Dense", (("units", 3),)),),
                (Call(0, (Ref(0),)), Call(0, (Ref(1),))),
                Seq((Ref(0), Ref(1))),
                Seq((Ref(2), Ref(3))),
            ),
            "a layer called again on other tensors",
            id="other-weights",
        ),
        pytest.param(
            Graph(
                (Input((3, 4)), Input((2,))),
                (Layer("LSTM", (("units", 3),)),),
                (Call(0, (Ref(0),), (("initial_state", Seq((Ref(1), Ref(1)))),)),),
                Seq((Ref(0), Ref(1))),
                Ref(2),
            ),
            "a state that does not fit",
            id="state",
        ),
        pytest.param(
            Graph(
                (Input((3, 4)), Input((2,), "bool", fill="mask")),
                (Layer("LSTM", (("units", 3),)),),
                (Call(0, (Ref(0),), (("mask", Ref(1)),)),),
                Seq((Ref(0), Ref(1))),
                Ref(2),
            ),
            "a mask that does not fit",
            id="mask",
        ),
    ],
)
def test_what_no_drawn_graph_has_is_called_odd(graph: Graph, odd: str) -> None:
    assert oddities(graph) == {odd}


def test_a_layer_in_the_place_of_one_that_takes_a_dict_takes_a_tensor() -> None:
    nested = Items((("main", Ref(0)), ("rest", Seq((), "tuple"))))
    graph = Graph((Input((4,)),), (Layer("ReLU"),), (Call(0, (nested,)),), Ref(0), Ref(1))
    assert fitted(graph).calls[0].args == (Ref(0),)
