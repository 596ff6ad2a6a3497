"""The mask of a Lambda is a text in a clone by upstream: one known issue, wherever that is noticed first."""

from __future__ import annotations

import pytest

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import load
from clonediff.reports.records import Cause, Difference, Raised, Severity

SOURCE = """
import keras
from keras import layers


@keras.saving.register_keras_serializable("lambda_mask")
def function(x):
    return x + 1.0


@keras.saving.register_keras_serializable("lambda_mask")
def mask(inputs, mask):
    return keras.ops.any(keras.ops.not_equal(inputs, 0.0), axis=-1)


inputs = keras.Input((3, 4), name="x")
x = layers.Lambda(function, mask=mask)(inputs)
model = keras.Model(inputs, {outputs})
"""


@pytest.mark.parametrize(
    ("outputs", "check"),
    [
        pytest.param("layers.GlobalAveragePooling1D()(x)", "structure", id="the clone is made"),
        pytest.param("layers.Multiply()([x, x])", "made", id="a layer casts the mask"),
        pytest.param("layers.Concatenate()([x, inputs])", "made", id="a layer reads its shape"),
    ],
)
def test_what_comes_of_the_mask_is_one_known_issue(outputs: str, check: str, keras: SubjectProcess) -> None:
    case = Case(
        SOURCE.replace("{outputs}", outputs), ({"shape": [3, 4], "dtype": "float32", "fill": "normal"},), seed=5
    )
    causes = GraphTrials(keras, load(), cloners=("upstream",)).try_case(case).hits
    assert [each.cause.root.aspect for each in causes if each.known is None] == []
    assert check in {each.cause.root.check for each in causes if each.known and each.known.id == "lambda-mask"}


@pytest.mark.parametrize("frame", ["ops/core.py:cast", "ops/numpy.py:logical_or", "layers/layer.py:call"])
@pytest.mark.parametrize("dtype", ["bool", "float", "half"])
def test_a_mask_that_is_cast_is_no_other_issue(frame: str, dtype: str) -> None:
    said = f"Cast string to {dtype} is not supported [Op:Cast] name: "
    raised = Raised("UnimplementedError", said, f"keras/src/{frame}", "keras/src/ops/function.py:_run_through_graph")
    root = Difference(
        "made", "clone", "raises", "a clone", f"UnimplementedError: {said}", Severity.CRASHES, None, raised
    )
    known = load().on("keras").of(Cause("x", root, given=("a Lambda with a mask",)))
    assert known is not None
    assert known.id == "lambda-mask"
    assert load().on("keras").of(Cause("x", root)) is None, "a model without such a Lambda"
