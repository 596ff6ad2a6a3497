"""What is drawn for a release that lacks a layer, an argument or an ability: the rest, and none of that."""

from __future__ import annotations

from functools import cache

import pytest

from clonediff.harness.search.sampling import sample_graphs
from clonediff.strategies import FEATURES as ALL_FEATURES
from clonediff.strategies import Graph, functional_graphs
from clonediff.strategies.graph import all_layers, call_refs, levels
from clonediff.strategies.kinds import CATALOGUE, less
from clonediff.strategies.kinds.kind import LEFT_OUT
from tests.example_counts import examples
from tests.warm_keras import graphs_of

from .features import FEATURES, Question, is_nested, says

KINDS = ("Lambda", "Masking", "Attention", "Add", "Dense")
MORE_KINDS = (*KINDS, "Embedding", "GlobalAveragePooling1D")


@cache
def drawn(count: int = 150, **options: object) -> list[Graph]:
    """So many graphs, always the same."""
    return list(sample_graphs(graphs_of("keras", **options), count, 5))


def an_idle_input(graph: Graph) -> bool:
    return any(
        not {ref.node for call in inner.calls for ref in call_refs(call)}.issuperset(range(len(inner.inputs)))
        for inner in levels(graph)
    )


ABILITIES: dict[str, Question] = {
    "optional inputs": says("inputs optional=True"),
    "inputs around tensors": says("inputs around=.*"),
    "sparse inputs": says("inputs sparse=True"),
    "ragged inputs": says("inputs ragged=True"),
    "mixed batches": lambda graph: len({given.batch for given in graph.inputs}) > 1,
    "repeated inputs": FEATURES["an input twice"],
    "nested ends": lambda graph: is_nested(graph.takes) or is_nested(graph.gives),
    "idle inputs": an_idle_input,
    "model calls": says("(inner )?calls (packing|axis)=.*"),
    "late building": says("(inner )?built=.*"),
    "masks of models": FEATURES["a model that is given mask"],
    "cut out": says("base .*"),
    "forms of values": says("(inner )?layers args .* is=form"),
    "later inputs": FEATURES["a model that begins inside another"],
}


@pytest.mark.parametrize("feature", ABILITIES)
def test_a_feature_is_drawn_and_can_be_left_out(feature: str) -> None:
    assert any(map(ABILITIES[feature], drawn(kinds=MORE_KINDS, min_instructions=4)))
    without = ALL_FEATURES - {feature}
    assert not any(
        map(ABILITIES[feature], drawn(examples(30, 150), kinds=MORE_KINDS, min_instructions=4, features=without))
    )


def test_a_sequential_has_the_shape_of_a_model_where_that_can_be() -> None:
    def shaped(graph: Graph) -> bool:
        first = graph.layers[graph.calls[0].layer] if graph.calls else None
        return graph.built == "by its first layer" and first is not None and first.graph is not None

    features = frozenset({"sequential", "nesting", "late building"})
    for offered in (True, False):
        all_ = features | {"shapes of models"} if offered else features
        all_graphs = drawn(examples(60, 150), kinds=("Dense",), min_instructions=4, features=all_)
        graphs = [inner for graph in all_graphs for inner in levels(graph)]
        assert any(map(shaped, graphs)) == offered
        assert any(graph.built == "by its first layer" for graph in graphs)


def test_what_is_named_stands_nowhere() -> None:
    without = ("GRU", "LSTM.go_backwards", "ops.relu")
    graphs = drawn(examples(30, 150), without=without, kinds=("GRU", "LSTM", "Bidirectional", "ops.relu"))
    layers = [layer for graph in graphs for layer in all_layers(graph)]
    assert {"LSTM", "Bidirectional", "SimpleRNN"} <= {layer.kind for layer in layers}
    assert not {"GRU", "ops.relu"} & {layer.kind for layer in layers}
    assert all(layer.arg("go_backwards") is None for layer in layers)


def test_a_kind_goes_with_an_argument_that_it_needs() -> None:
    assert less(CATALOGUE["Dense"], ["Dense.units"]) is None
    dense = less(CATALOGUE["Dense"], ["Dense.use_bias"])
    assert dense is not None
    assert dense.options["use_bias"] == (LEFT_OUT,)
    assert list(dense.options) == list(CATALOGUE["Dense"].options)


def test_one_value_of_an_argument_is_left_out() -> None:
    lambdas = less(CATALOGUE["Lambda"], ["Lambda.form=registered", "Lambda.mask=named"])
    assert lambdas is not None
    assert "registered" in CATALOGUE["Lambda"].options["form"]
    assert set(lambdas.options["form"]) == set(CATALOGUE["Lambda"].options["form"]) - {"registered"}
    assert set(lambdas.options["mask"]) == set(CATALOGUE["Lambda"].options["mask"]) - {"named"}


def test_a_cell_of_ones_own_is_left_out_by_its_name() -> None:
    functional_graphs(without=["LeakyCell"])  # which is no kind, and no mistake
    rnn = less(CATALOGUE["RNN"], ["LeakyCell"])
    assert rnn is not None
    assert "LeakyCell" in str(CATALOGUE["RNN"].options["cell"])
    assert "LeakyCell" not in str(rnn.options["cell"])


def test_a_name_that_is_none_is_told() -> None:
    with pytest.raises(ValueError, match="'Grue' is not in the catalogue"):
        functional_graphs(without=["Grue.units"])
