"""What a case, or a way to copy a model, promises less."""

from __future__ import annotations

import pytest

from clonediff.harness.trials.contracts import breaks_contract
from clonediff.reports.records import Cause, Difference, Severity


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
