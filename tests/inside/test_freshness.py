"""When a weight that begins as another did was copied, and when that is chance."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from clonediff.harness.inside.freshness import fresh

FLOATS = np.array([[0.25], [0.75]], "float32")
FEW, MANY = np.array([[8], [7]], "int8"), np.arange(64, dtype="int8").reshape(8, 8)
ZEROS = np.zeros((2, 1), "float32")


@pytest.mark.parametrize(
    ("value", "is_fresh"),
    [
        pytest.param(FLOATS, False, id="floats"),
        pytest.param(ZEROS, True, id="zeros"),
        pytest.param(FEW, True, id="a-quantized-kernel-of-two"),
        pytest.param(MANY, False, id="a-quantized-kernel"),
    ],
)
def test_a_few_whole_numbers_are_drawn_again_by_chance(value: Any, is_fresh: bool) -> None:
    model: Any = SimpleNamespace(initial=[value])
    kept: Any = SimpleNamespace(values=[value])
    assert fresh(model, kept, model, repeats=True) == [is_fresh]


def test_what_was_put_into_the_original_was_copied() -> None:
    original: Any = SimpleNamespace(initial=[ZEROS])
    kept: Any = SimpleNamespace(values=[FLOATS])
    assert fresh(original, kept, SimpleNamespace(initial=[FLOATS]), repeats=False) == [False]  # type: ignore[arg-type]
