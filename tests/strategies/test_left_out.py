"""What is drawn for a release that lacks a layer, an argument or an ability: the rest, and none of that."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice

import pytest

from clonediff.strategies import FEATURES as ALL_FEATURES
from clonediff.strategies import Graph, functional_graphs
from clonediff.strategies.graph import all_layers, call_refs, levels
from clonediff.strategies.kinds import CATALOGUE, less
from clonediff.strategies.kinds.kind import LEFT_OUT
from tests.example_counts import examples
from tests.warm_keras import Drawn, graphs_of

from .features import FEATURES, Question, is_nested, says

KINDS = ("Lambda", "Masking", "Attention", "Add", "Dense")
MORE_KINDS = (*KINDS, "Embedding", "GlobalAveragePooling1D")


@cache
def _sample(**options: object) -> Drawn:
    return Drawn(graphs_of("keras", **options), 5)


def drawn(count: int = 150, **options: object) -> Iterator[Graph]:
    """So many graphs, always the same; each is drawn when it is looked at."""
    return islice(_sample(**options), count)


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
        map(ABILITIES[feature], drawn(examples(12, 150), kinds=MORE_KINDS, min_instructions=4, features=without))
    )


def test_a_sequential_has_the_shape_of_a_model_where_that_can_be() -> None:
    def shaped(graph: Graph) -> bool:
        first = graph.layers[graph.calls[0].layer] if graph.calls else None
        return graph.built == "by its first layer" and first is not None and first.graph is not None

    def chains(count: int, *more: str) -> Iterator[Graph]:
        features = frozenset({"sequential", "nesting", "late building", *more})
        for graph in drawn(count, kinds=("Dense",), min_instructions=4, features=features):
            yield from (each for each in levels(graph) if each.built == "by its first layer")

    assert any(map(shaped, chains(150, "shapes of models")))
    assert any(chains(150))
    assert not any(map(shaped, chains(examples(25, 150))))


def test_what_is_named_stands_nowhere() -> None:
    without = ("GRU", "LSTM.go_backwards", "ops.relu")
    graphs = drawn(examples(12, 150), without=without, kinds=("GRU", "LSTM", "Bidirectional", "ops.relu"))
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
