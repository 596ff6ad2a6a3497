"""What a case promises less on a release: names in a TensorFlow graph that has each name once, and operations in it."""

from __future__ import annotations

import pytest

from clonediff.harness.subjects import Case
from clonediff.harness.trials.contracts import breaks_contract, exemptions_of
from clonediff.reports.records import Cause, Difference, Severity


def _promised(aspect: str, expected: str, found: str, lacks: str, path: str = "layers['a'].name") -> bool:
    case = Case("", (), asked="model = None", arguments={"clone_function": "again"})
    cause = Cause("", Difference("structure", path, aspect, expected, found, Severity.NAME, None))
    return all(breaks_contract(each, cause) for each in exemptions_of(case, (lacks,)))


@pytest.mark.parametrize(
    ("lacks", "aspect", "expected", "found", "is_promised"),
    [
        ("own tensors", "name", "tf_op_layer_Neg_2", "tf_op_layer_Neg", False),
        ("own tensors", "name", "dense_1", "dense", True),
        ("own tensors", "weight scope", "dense_1/kernel:0", "dense/kernel:0", False),
        ("own tensors", "weight name", "dense/kernel:0", "dense/bias:0", True),
        ("own tensors", "config.node_def", "{name: 'Neg_2'}", "{name: 'Neg'}", False),
        ("own tensors", "config.units", "1", "2", True),
        ("tensors that keep their dtype", "output dtype", "float16", "float32", False),
        ("tensors that keep their dtype", "output dtype", "int32", "float32", True),
        ("nothing that matters", "weight scope", "dense_1/kernel:0", "dense/kernel:0", True),
    ],
)
def test_what_a_release_counts_is_not_promised(
    lacks: str, aspect: str, expected: str, found: str, is_promised: bool
) -> None:
    assert _promised(aspect, expected, found, lacks) is is_promised


@pytest.mark.parametrize(("path", "is_promised"), [("twice.weights[0].name", False), ("again.weights[0].name", True)])
def test_what_a_function_makes_of_what_it_made_may_be_named_within_something_else(path: str, is_promised: bool) -> None:
    assert _promised("weight scope", "scale:0", "scale/scale:0", "nothing that matters", path) is is_promised


@pytest.mark.parametrize("layer", ["tf_op_layer_ExpandDims", "dense"])
@pytest.mark.parametrize("aspect", ["layer extra", "layer missing", "config.constants"])
def test_that_a_function_makes_the_same_operations_on_other_inputs_is_not_promised(aspect: str, layer: str) -> None:
    found = _promised(aspect, "nothing", "TensorFlowOpLayer", "own tensors", f"layers['{layer}']")
    assert found is (layer == "dense")


@pytest.mark.parametrize(
    ("aspect", "is_promised"),
    [
        ("attribute.dtype_policy", True),
        ("attribute.dtype_policy.name", True),
        ("attribute.compute_dtype", True),
        ("attribute.loss.dtype", False),
        ("attribute.extra_dtypes", False),
    ],
)
def test_a_copy_by_config_promises_the_policy_of_a_layer_and_no_dtype_of_what_was_set_on_it(
    aspect: str, is_promised: bool
) -> None:
    difference = Difference("structure", f"layers['a'].{aspect}", aspect, "'float64'", "'float32'", Severity.PROPERTY)
    assert breaks_contract("roundtrip", Cause("", difference)) is is_promised
