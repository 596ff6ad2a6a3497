"""What a case promises less on a release: names in a TensorFlow graph that has each name once, and operations in it."""

from __future__ import annotations

import pytest

from harness.trials.promises import ON_LACKING, promised
from reports.records import Cause, Cost, Difference

LESS = ON_LACKING["own tensors"]


def _promised(
    aspect: str, expected: str, found: str, path: str = "layers['a'].name", less: tuple[str, ...] = LESS
) -> bool:
    cause = Cause("", Difference("structure", path, aspect, expected, found, Cost.NAME, None))
    return all(promised(each, cause) for each in less)


@pytest.mark.parametrize(
    ("aspect", "expected", "found", "is_promised"),
    [
        ("name", "tf_op_layer_Neg_2", "tf_op_layer_Neg", False),
        ("name", "dense_1", "dense", True),
        ("weight scope", "dense_1/kernel:0", "dense/kernel:0", False),
        ("weight name", "dense/kernel:0", "dense/bias:0", True),
        ("config.node_def", "{name: 'Neg_2'}", "{name: 'Neg'}", False),
        ("config.units", "1", "2", True),
    ],
)
def test_names_that_a_graph_counts_are_not_promised(aspect: str, expected: str, found: str, is_promised: bool) -> None:
    assert _promised(aspect, expected, found) is is_promised


@pytest.mark.parametrize("layer", ["tf_op_layer_ExpandDims", "dense"])
@pytest.mark.parametrize("aspect", ["layer extra", "layer missing", "config.constants"])
def test_that_a_function_makes_the_same_operations_on_other_inputs_is_not_promised(aspect: str, layer: str) -> None:
    found = _promised(aspect, "nothing", "TensorFlowOpLayer", f"layers['{layer}']")
    assert found is (layer == "dense")


@pytest.mark.parametrize(
    ("aspect", "expected", "found", "is_promised"),
    [
        ("name", "lstm_cell_1", "lstm_cell", False),
        ("name", "lstm_1", "lstm", True),
        ("weight scope", "lstm_1/lstm_cell_1/kernel:0", "lstm_1/lstm_cell/kernel:0", False),
        ("weight scope", "lstm_1/kernel:0", "lstm/kernel:0", True),
        ("config.units", "1", "2", True),
    ],
)
def test_the_number_of_a_cell_is_not_promised(aspect: str, expected: str, found: str, is_promised: bool) -> None:
    assert _promised(aspect, expected, found, less=ON_LACKING["named cells"]) is is_promised
