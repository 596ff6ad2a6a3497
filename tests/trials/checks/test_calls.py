"""A call that is written in another way is the same call; a layer that is kept may be called once more."""

from __future__ import annotations

import msgspec
import pytest

from clonediff.harness.subjects.observation import Observation
from clonediff.harness.trials.checks import compare
from tests.trials.checks.making import altered, chain, faithful

X = {"tensor": [1, 0, 0]}
ORIGINAL = chain("Dense", "Join")


def called(observation: Observation, args: list[object], kwargs: dict[str, object]) -> Observation:
    return altered(observation, ("shape.layers.2.calls.0.args", args), ("shape.layers.2.calls.0.kwargs", kwargs))


@pytest.mark.parametrize(
    ("args", "kwargs", "aspects"),
    [
        pytest.param([X], {"c": X}, set(), id="by keyword, without the default"),
        pytest.param([X], {"c": {"tensor": [0, 0, 0]}}, {"call.kwargs tensor"}, id="another tensor"),
        pytest.param([X], {}, {"call.args missing"}, id="lost"),
    ],
)
@pytest.mark.parametrize("default", [None, {"value": "default"}])
def test_a_default_between_others_is_not_there_by_keyword(
    args: list[object], kwargs: dict[str, object], aspects: set[str], default: object
) -> None:
    original = called(ORIGINAL, [X, default, X], {})
    clone = msgspec.structs.replace(
        faithful(original), observation=called(faithful(original).observation or original, args, kwargs)
    )
    assert {each.aspect for each in compare(original, clone, ["structure"])} == aspects


@pytest.mark.parametrize(("keeps", "told"), [("", 1), ("layers", 0)])
def test_what_a_kept_layer_holds_may_be_another_once_it_is_called_again(keeps: str, told: int) -> None:
    attributes = "layers.2.attributes"
    shape = altered(ORIGINAL.shape, (attributes, {".state": "2"}))
    original = msgspec.structs.replace(ORIGINAL, shape=shape, keeps=keeps)
    after = altered(shape, (attributes, {".state": "None"}))
    found = compare(original, altered(faithful(original), ("original_after", after)), ["untouched"])
    assert [each.aspect for each in found] == ["attribute.state"] * told
