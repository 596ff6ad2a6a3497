"""What TensorFlow before 2.4 says of its operations that does not count."""

from __future__ import annotations

import numpy as np
import pytest

from clonediff.harness.inside.canonical import text
from clonediff.harness.inside.frameworks.tf_keras_early import as_number


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (np.int32(1), np.array([1], "int32"), True),
        (np.int32(1), np.array([2], "int32"), False),
        (np.array([1, 2], "int32"), np.array([1], "int32"), False),
        (np.float32(1.0), np.array([1.0], "float32"), False),
    ],
)
def test_an_axis_is_a_number_or_a_list_of_it(one: object, other: object, alike: bool) -> None:
    assert (text(as_number(one)) == text(as_number(other))) is alike
