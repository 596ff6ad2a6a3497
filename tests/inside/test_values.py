"""The numbers of a trial: what its models are fed, and their weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clonediff.harness.inside.values import input_arrays, weight_arrays


def arrays(seed: int = 1, **spec: Any) -> Any:
    (array,) = input_arrays([{"shape": [4, 3], "dtype": "float32", **spec}], 3, seed)
    return array


def test_numbers_are_those_of_their_seed() -> None:
    assert arrays(shape=[None, 4], fill="normal").shape == (3, 3, 4)
    assert (arrays(fill="normal") == arrays(fill="normal")).all()
    assert (arrays(fill="normal") != arrays(2, fill="normal")).any()
    with pytest.raises(ValueError, match="unknown fill 'sand'.*normal"):
        arrays(fill="sand")


@pytest.mark.parametrize("seed", range(10))
def test_numbers_suit_what_takes_them(seed: int) -> None:
    zero = (arrays(seed, fill="steps") == 0).all(axis=-1)
    assert zero.any()
    assert not zero[:, 0].any()
    assert (zero[:, :-1] & ~zero[:, 1:]).any(), "one row of zeros that is not at the end"
    mask = arrays(seed, shape=[4], dtype="bool", fill="mask")
    assert mask.any(axis=1).all()
    assert not mask.all()
    ids = arrays(seed, shape=[5], dtype="int32", fill="ids", high=4, batch=7)
    assert (ids.shape, ids.min()) == ((7, 5), 0)
    assert ids.max() < 4


def test_weights_are_distinct_and_variances_positive() -> None:
    kernel, count, variance = weight_arrays(
        [("kernel", (2, 3), "float32"), ("count", (), "int32"), ("moving_variance", (50,), "float32")], 4
    )
    assert (len(np.unique(kernel)), count) == (6, None)
    assert (variance >= 0.5).all()
