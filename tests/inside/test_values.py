"""The numbers of a trial: the inputs and the weights of its models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clonediff.harness.inside.values import input_arrays, weight_arrays

pytestmark = pytest.mark.no_keras


def arrays(seed: int = 1, **spec: Any) -> Any:
    (array,) = input_arrays([{"shape": [4, 3], "dtype": "float32", **spec}], 3, seed)
    return array


@pytest.mark.parametrize("seed", range(10))
def test_inputs_and_weights_have_suitable_values(seed: int) -> None:
    is_zero = (arrays(seed, fill="steps") == 0).all(axis=-1)
    assert is_zero.any() and not is_zero[:, 0].any()
    assert (is_zero[:, :-1] & ~is_zero[:, 1:]).any(), "one step of zeros must come before the last step"
    mask = arrays(seed, shape=[4], dtype="bool", fill="mask")
    assert mask.any(axis=1).all() and not mask.all()
    ids = arrays(seed, shape=[5], dtype="int32", fill="ids", high=4, batch=7)
    assert (ids.shape, ids.min()) == ((7, 5), 0) and ids.max() < 4
    kernel, variance = weight_arrays([("kernel", (2, 3), "float32"), ("moving_variance", (50,), "float32")], seed)
    assert len(np.unique(kernel)) == 6 and (variance >= 0.5).all()
