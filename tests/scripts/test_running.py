"""The numbers of a script: those of the trial that it tells of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clonediff.harness.inside.values import input_arrays, weight_arrays
from clonediff.harness.scripts.alone import ScriptRunner
from clonediff.harness.scripts.running import drawn, weighted
from clonediff.harness.subjects import Case, Subject

SPECS: list[tuple[dict[str, Any], ...]] = [
    *(
        ({"shape": [None, 4], "fill": fill, "dtype": dtype, "high": 5}, {"shape": [2], "fill": "normal"})
        for fill, dtype in [
            ("normal", "float32"),
            ("steps", "float16"),
            ("ids", "int32"),
            ("mask", "bool"),
            ("normal", "float64"),
            ("words", "string"),
        ]
    ),
    ({"shape": [], "fill": "mask", "dtype": "bool"}, {"shape": [1], "fill": "mask", "dtype": "bool"}),
    ({"shape": [1], "fill": "steps", "batch": 1}, {"shape": [2, 2], "fill": "steps", "batch": 1}),
    ({"shape": [4, 2, 2], "dtype": "bool"}, {"shape": [3], "dtype": "int32"}, {"shape": [3], "dtype": "bfloat16"}),
    ({"shape": [1], "fill": "ids", "dtype": "int32", "high": 1, "batch": 1}, {"shape": [], "fill": "steps"}),
]


@pytest.mark.parametrize("specs", SPECS, ids=lambda specs: " and ".join(each.get("fill", "any") for each in specs))
@pytest.mark.parametrize("seed", [0, 1 << 63, 7])
def test_inputs_are_those_of_the_trial(specs: tuple[dict[str, Any], ...], seed: int) -> None:
    names: dict[str, Any] = {}
    case = Case("", specs, 3, seed)
    exec("\n".join(("import numpy as np", *drawn(case))), names)
    expected = input_arrays(list(specs), 3, seed)
    assert len(names["values"]) == len(expected)
    for one, other in zip(expected, names["values"], strict=True):
        assert getattr(one, "dtype", None) == getattr(other, "dtype", None)
        np.testing.assert_array_equal(other, one)


@pytest.mark.parametrize(
    "generation",
    ["keras", pytest.param("tf_keras", marks=pytest.mark.slow(reason="the same lines; NumPy draws the numbers"))],
)
def test_weights_are_those_of_the_trial(generation: str) -> None:
    source = f"""\
import {generation} as keras
import numpy as np

x = keras.Input((3,))
model = keras.Model(x, keras.layers.BatchNormalization()(keras.layers.Dense(2)(x)))
"""
    shapes = [("kernel", (3, 2)), *((name, (2,)) for name in ("bias", "gamma", "beta", "mean", "variance"))]
    expected = weight_arrays([(name, shape, "float32") for name, shape in shapes], 5)
    told = [array.ravel().tolist() for array in expected]
    check = f"assert [each.ravel().tolist() for each in model.get_weights()] == {told}"
    text = "\n".join((source, *weighted(Case(source, (), 3, 5)), check))
    code, stderr = ScriptRunner(Subject.parse(generation)).run(text)
    assert code == 0, stderr
