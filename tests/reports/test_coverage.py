"""Which kinds met which features, counted from graphs."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import replace

from clonediff.reports.kinds_and_features import FEATURES, Counting, features
from clonediff.strategies import Graph
from clonediff.strategies.graph import Array, Call, CloneArguments, Input, Layer, Made, NewInputs, Ref, Seq, Wrong
from clonediff.strategies.preparations import PREPARATIONS
from tests.reports.making import TWO, drawn


def test_a_graph_meets_what_is_in_it_and_nothing_else() -> None:
    met = set(features(TWO))
    dense = {feature for kind, feature in met if kind == "Dense"}
    assert dense == {"", "called again", "at several depths", "on a masked tensor", "in a model"}
    assert ("Add", "on several tensors") in met
    assert ("Lambda", "several outputs") in met
    assert ("Model", "called again") in met
    assert ("Model", "name of its own") in met
    assert ("LSTM", "is an output") in met
    assert ("Masking", "on an input of the model") in met


def test_arguments_wrappers_and_flags_are_features() -> None:
    layers = (
        Layer("TimeDistributed", (("layer", Made(Layer("Dense", (("units", 2),), trainable=False))),)),
        Layer("Shift", dtype="float64", name="s", marks=("frozen after",)),
    )
    calls = (
        Call(0, (Ref(0),), (("mask", Ref(0)), ("training", None))),
        Call(1, (Seq((Ref(0), Ref(0))),), (("by", Seq((Array((2,)),))),)),
    )
    met = set(features(Graph((Input((3, 4)),), layers, calls, Ref(0), Ref(1))))
    wrapped = {feature for kind, feature in met if kind == "Dense"}
    assert wrapped == {"", "in a wrapper", "frozen"}
    assert {feature for kind, feature in met if kind == "TimeDistributed"} >= {"mask given", "training given"}
    assert {feature for kind, feature in met if kind == "Shift"} == {
        *("", "leads nowhere", "on one tensor twice", "on several tensors", "on an input of the model", "frozen"),
        *("dtype of its own", "name of its own", "other arguments given", "an array as argument"),
    }


def test_a_graph_counts_once_however_often_it_meets_a_feature() -> None:
    counting = Counting()
    counting.add(TWO)
    counting.add(TWO)
    found = counting.coverage()
    assert found.graphs == 2
    assert found.kinds["Dense"] == 2
    assert found.met["Dense"]["called again"] == 2


@pytest.mark.parametrize(
    "clone_arguments",
    [
        *(CloneArguments(inputs=how) for how in get_args(NewInputs) if how),
        *(CloneArguments(wrong=what) for what in get_args(Wrong) if what),
    ],
)
def test_every_clone_argument_is_a_column(clone_arguments: CloneArguments) -> None:
    graph = Graph(
        (Input((4,)),), (Layer("ReLU"),), (Call(0, (Ref(0),)),), Ref(0), Ref(1), clone_arguments=clone_arguments
    )
    plain = set(features(replace(graph, clone_arguments=None)))
    more = {feature for _, feature in set(features(graph)) - plain}
    assert len(more) == 1
    assert more <= set(FEATURES)


def test_every_feature_is_a_column() -> None:
    counting = Counting()
    for graph in drawn():
        counting.add(graph)
    met = {feature for its in counting.coverage().met.values() for feature in its}
    assert met <= set(FEATURES)
    assert len(met) > (len(FEATURES) - len(PREPARATIONS)) / 2


def test_a_graph_counts_by_its_calls_and_by_what_was_called_on_what() -> None:
    counting = Counting()
    counting.add(TWO)
    counting.include(counting.coverage())
    assert counting.coverage().calls == {9: 2}
    assert counting.coverage().after == {
        "Dense": {"Add": 2, "Lambda": 2, "Model": 2},
        "Lambda": {"Dense": 2, "Model": 2},
        "Masking": {"Dense": 2},
        "Model": {"LSTM": 2},
    }
