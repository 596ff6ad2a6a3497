"""What a case, or a way to copy a model, promises less."""

from __future__ import annotations

import pytest

from clonediff.harness.subjects import Case
from clonediff.harness.trials.contracts import breaks_contract, exemptions_of
from clonediff.reports.records import Cause, Difference, Severity


@pytest.mark.parametrize(("path", "is_promised"), [("twice.weights[0].name", False), ("again.weights[0].name", True)])
def test_what_a_function_makes_of_what_it_made_may_be_named_within_something_else(path: str, is_promised: bool) -> None:
    case = Case("", (), asked="model = None", arguments={"clone_function": "again"})
    difference = Difference("structure", path, "weight scope", "scale:0", "scale/scale:0", Severity.NAME)
    assert all(breaks_contract(each, Cause("", difference)) for each in exemptions_of(case)) is is_promised


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
