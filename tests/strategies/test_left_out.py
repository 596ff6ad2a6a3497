"""What is drawn where layers, arguments or values are left out: the rest, and none of that."""

from __future__ import annotations

import pytest

from clonediff.harness.search.sampling import sample_graphs
from clonediff.strategies import functional_graphs
from clonediff.strategies.graph import all_layers
from clonediff.strategies.kinds import CATALOGUE, less
from clonediff.strategies.kinds.kind import LEFT_OUT
from tests.example_counts import examples
from tests.warm_keras import graphs_of


def test_what_is_named_stands_nowhere() -> None:
    without = ("GRU", "LSTM.go_backwards", "ops.relu")
    graphs = graphs_of("keras", without=without, kinds=("GRU", "LSTM", "Bidirectional", "ops.relu"))
    layers = [layer for graph in sample_graphs(graphs, examples(12, 150), 5) for layer in all_layers(graph)]
    assert {"LSTM", "Bidirectional"} <= {layer.kind for layer in layers}
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


def test_a_name_that_is_none_is_told() -> None:
    with pytest.raises(ValueError, match="'Grue' is not in the catalogue"):
        functional_graphs(without=["Grue.units"])
