"""Of a model that is not like itself nothing is said, whichever of its clones it was held against."""

from __future__ import annotations

from typing import Any

import pytest

from clonediff.harness.inside.nondeterminism import is_deterministic

RUN, OTHER = {"outputs": ["a"]}, {"outputs": ["b"]}
ALIKE = {"inference": RUN, "training": RUN}
IN_TRAINING = {"inference": RUN, "training": OTHER}


@pytest.mark.parametrize(
    ("clone", "asked"),
    [
        pytest.param({"observation": ALIKE}, False, id="alike"),
        pytest.param({"observation": IN_TRAINING}, True, id="a clone"),
        pytest.param({"observation": ALIKE, "twice": IN_TRAINING}, True, id="the clone of a clone"),
        pytest.param({"observation": ALIKE, "inference_after": OTHER}, True, id="the model afterwards"),
    ],
)
def test_a_model_is_called_again_where_a_clone_was_not_like_it(clone: dict[str, Any], asked: bool) -> None:
    calls: list[dict[str, Any]] = []

    def call(training: bool) -> dict[str, Any]:
        calls.append({"outputs": [len(calls)]})  # another number each time
        return calls[-1]

    assert is_deterministic(ALIKE, {"fixed": clone}, call, dict) is not asked
    assert bool(calls) is asked


def test_a_model_that_is_like_itself_is_steady() -> None:
    assert is_deterministic(ALIKE, {"fixed": {"observation": IN_TRAINING}}, lambda training: RUN, dict)


@pytest.mark.parametrize(
    ("gradients", "again", "steady"),
    [
        pytest.param([{"digest": "b"}], [["c"], ["d"], ["e"]], False, id="another each time"),
        pytest.param([{"digest": "b"}], [["a"], ["a"], ["a"]], True, id="another in the clone"),
        pytest.param([None], [["c"], ["d"], ["e"]], True, id="none in the clone"),
    ],
)
def test_a_gradient_that_no_step_repeats_is_chance(gradients: list[Any], again: list[list[str]], steady: bool) -> None:
    original = dict(ALIKE, trained={"gradients": [{"digest": "a"}]})
    clone = {"observation": dict(ALIKE, trained={"gradients": gradients})}
    steps = iter({"gradients": [{"digest": digest} for digest in digests]} for digests in again)

    assert is_deterministic(original, {"fixed": clone}, lambda training: RUN, lambda: next(steps)) is steady
