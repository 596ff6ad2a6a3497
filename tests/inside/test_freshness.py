"""When a weight that begins as another did was copied, and when that is chance."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import keras
import numpy as np
import pytest

from clonediff.harness.inside.freshness import drawn_without_seed

FLOATS = np.array([[0.25], [0.75]], "float32")
FEW, MANY = np.array([[8], [7]], "int8"), np.arange(64, dtype="int8").reshape(8, 8)


@pytest.mark.parametrize(
    ("value", "seed", "copied"),
    [
        pytest.param(FLOATS, None, True, id="floats"),
        pytest.param(FLOATS, 1, False, id="floats-with-a-seed"),
        pytest.param(FEW, None, False, id="a-quantized-kernel-of-two"),
        pytest.param(MANY, None, True, id="a-quantized-kernel"),
    ],
)
def test_a_few_whole_numbers_are_drawn_again_by_chance(value: Any, seed: int | None, copied: bool) -> None:
    layer = keras.layers.Dense(1, kernel_initializer=keras.initializers.GlorotUniform(seed))
    description: Any = SimpleNamespace(
        shape={"weights": [{"owner": 0, "name": "dense/kernel"}]},
        layers=SimpleNamespace(places=[SimpleNamespace(layer=layer)]),
    )
    assert drawn_without_seed(description, 0, value) is copied
