"""Shrinking is behaviour: for each planted fault the graph that is left has as many calls as the fault needs.

A fault here is a question to the graph; `tests/property/test_planted_faults.py` does the same with broken cloners of
real models.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import find, settings

from clonediff.strategies import Graph
from clonediff.strategies.graph import Seq, levels
from tests.warm_keras import graphs_of

from .features import FEATURES, Question, any_call, any_lambda, any_operation, mask_form

FAULTS: dict[str, tuple[Question, int]] = {
    "several outputs": (FEATURES["a Lambda with 2 outputs"], 1),
    "a shared layer": (FEATURES["a shared layer"], 2),
    "a nested model": (FEATURES["a nested functional model"], 2),
    "an output twice": (FEATURES["an output twice"], 0),
    "a mask function": (any_lambda(lambda layer: mask_form(layer).startswith("mask")), 1),
    "a ragged input": (FEATURES["a ragged input"], 1),
    "a fixed mask": (any_lambda(lambda layer: mask_form(layer) == "fixed"), 1),
    "two tensors": (FEATURES["a Lambda on two tensors"], 1),
    "a recurrent layer": (lambda graph: any(layer.kind == "LSTM" for layer in graph.layers), 1),
}
OF_OPERATIONS: dict[str, tuple[Question, int]] = {
    "a slice with a step": (any_operation(lambda layer: "::2" in str(layer.arg("key"))), 1),
    "several axes": (any_operation(lambda layer: layer.kind == "ops.sum" and isinstance(layer.arg("axis"), Seq)), 1),
    "two tensors of an operation": (
        any_call(lambda layer, call: layer.kind == "ops.take_along_axis" and len(call.args) == 2),
        2,
    ),
    "a loop": (any_operation(lambda layer: layer.kind == "ops.while_loop"), 1),
}
SOME_OPERATIONS = ("operator.slice", "operator.half", "ops.sum", "ops.take_along_axis", "ops.while_loop", "ops.argsort")
"""Sought among these alone: a graph of anything seldom has the one that is meant."""

AT_ONCE = "a shared layer"
LATER = pytest.mark.slow(reason="a search takes seconds: one is made at once, as are those of test_planted_faults")


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=LATER)])
@pytest.mark.parametrize(
    "fault", [each if each == AT_ONCE else pytest.param(each, marks=LATER) for each in (*FAULTS, *OF_OPERATIONS)]
)
def test_a_small_graph_is_found(fault: str, seed: int) -> None:
    shows, calls = (FAULTS | OF_OPERATIONS)[fault]
    options = settings(max_examples=20000, database=None, deadline=None)
    kinds = SOME_OPERATIONS if fault in OF_OPERATIONS else None
    graphs = graphs_of("keras", max_instructions=4, max_inputs=2, kinds=kinds)
    found: Graph = find(graphs, shows, settings=options, random=Random(seed))
    assert sum(len(level.calls) for level in levels(found)) == calls
    assert len(found.inputs) == 1
