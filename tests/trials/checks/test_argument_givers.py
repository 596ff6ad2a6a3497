"""What only gave an argument is gone with the argument: a cause says what was lost, not what follows."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from clonediff.harness.subjects.observation import CallSeen, Clone, LayerSeen, Observation
from clonediff.harness.trials.checks import compare
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.structure import structure
from clonediff.harness.trials.triage import causes, title

from .making import faithful, gives, layer, observed

INPUT = layer("input", "InputLayer", 0)
TENSOR, ON_INPUT = {"tensor": [2, 0, 0]}, {"tensor": [0, 0, 0]}


def _giver(kind: str, on: int = 0) -> LayerSeen:
    return layer(kind.lower(), kind, ord(kind[0]), gives([on, 0, 0]))


def _caller(*tensors: list[int], **kwargs: Any) -> LayerSeen:
    return layer("caller", "LSTM", 1, gives(*tensors, kwargs=kwargs))


def _model(*layers: LayerSeen) -> Observation:
    return observed([INPUT, *layers], [1], masks=False)


PLAIN = _model(_caller([0, 0, 0]))
GIVEN = _model(_caller([0, 0, 0], initial_state=[TENSOR, TENSOR]), _giver("Dense"))
BESIDE = _model(layer("caller", "LSTM", 1, gives([0, 0, 0])), _giver("Dense"))
MASKED = _model(_caller([0, 0, 0], mask=TENSOR), _giver("Any", on=3), _giver("NotEqual"))
OTHER_MASK = _model(_caller([0, 0, 0], mask=TENSOR), _giver("Less"))
BEHIND = _model(_caller([2, 0, 0]), _giver("ReLU"))
BEHIND_ANOTHER = _model(_caller([2, 0, 0]), _giver("ELU"))
LISTED = _model(layer("caller", "LSTM", 1, CallSeen([[ON_INPUT, TENSOR, TENSOR]], {}, 1, (False,))), _giver("Dense"))


@pytest.mark.parametrize(
    ("original", "other", "aspects"),
    [
        pytest.param(GIVEN, PLAIN, {"call.kwargs missing", "giver missing"}, id="an argument is lost"),
        pytest.param(PLAIN, GIVEN, {"call.kwargs extra", "giver extra"}, id="there is one more"),
        pytest.param(LISTED, PLAIN, {"call.args missing", "giver missing"}, id="lost from beside the sequence"),
        pytest.param(PLAIN, LISTED, {"call.args extra", "giver extra"}, id="one more beside the sequence"),
        pytest.param(
            MASKED, OTHER_MASK, {"call.kwargs tensor", "giver missing", "giver extra"}, id="another mask, computed"
        ),
        pytest.param(
            BEHIND, BEHIND_ANOTHER, {"call.args tensor", "layer missing", "layer extra"}, id="a layer was replaced"
        ),
        pytest.param(BEHIND, PLAIN, {"call.args tensor", "layer missing"}, id="a layer was left out"),
        pytest.param(BESIDE, PLAIN, {"layer missing"}, id="nobody used it"),
    ],
)
def test_a_layer_that_only_gave_an_argument_is_told_as_such(
    original: Observation, other: Observation, aspects: set[str]
) -> None:
    assert {one.aspect for one in structure(_pair(original, other))} == aspects


def test_what_is_an_output_too_is_a_layer_that_is_missing() -> None:
    original = observed([INPUT, _caller([0, 0, 0], initial_state=[TENSOR]), _giver("Dense")], [1, 2], masks=False)
    assert "layer missing" in {one.aspect for one in structure(_pair(original, PLAIN))}


def test_what_another_call_still_takes_is_a_layer_that_is_missing() -> None:
    calls = (gives([0, 0, 0], kwargs={"mask": TENSOR}), gives([2, 0, 0]))
    original = _model(layer("caller", "LSTM", 1, *calls), _giver("Less"))
    found = _pair(original, _model(layer("caller", "LSTM", 1, gives([0, 0, 0]), gives([0, 0, 0]))))
    assert {one.aspect for one in structure(found)} == {"call.kwargs missing", "call.args tensor", "layer missing"}


@pytest.mark.parametrize(
    ("original", "other", "said"),
    [
        pytest.param(GIVEN, PLAIN, "The initial_state of a call is lost in the clone", id="state"),
        pytest.param(LISTED, PLAIN, "The initial_state of a call is lost in the clone", id="state in a list"),
        pytest.param(MASKED, OTHER_MASK, "The mask of a call is another tensor in the clone", id="mask"),
        pytest.param(
            PLAIN,
            OTHER_MASK,
            "There is a mask among the arguments of a call in the clone, where there was none",
            id="new",
        ),
        pytest.param(
            GIVEN, OTHER_MASK, "The initial_state of a call is lost in the clone", id="and Keras puts in a mask"
        ),
    ],
)
def test_one_cause_says_what_was_lost(original: Observation, other: Observation, said: str) -> None:
    (cause,) = causes(original, compare(original, _pair(original, other).clone, ["structure"]))
    assert title(cause) == said


def test_a_mask_that_a_layer_no_longer_hands_on_is_no_cause_of_its_own() -> None:
    def model(hands_on: bool, *masks: LayerSeen, mask: Any) -> Observation:
        layers = [INPUT, _caller([2, 0, 0], mask=mask), layer("drop", "DropMask", 2, gives([0, 0, 0])), *masks]
        seen = observed(layers, [1], masks=False)
        held = [{".built": "True"}, *({".built": "True"} for _ in layers)]
        held[3][".supports_masking"] = str(hands_on)
        return msgspec.structs.replace(seen, shape=msgspec.structs.replace(seen.shape, holdings=tuple(held)))

    computed = _giver("Any", on=4), _giver("NotEqual")
    original, clone = model(True, *computed, mask={"tensor": [3, 0, 0]}), model(False, mask=None)
    (cause,) = causes(original, compare(original, _pair(original, clone).clone, ["structure"]))
    assert cause.root.aspect == "attribute.supports_masking"
    assert {one.aspect for one in cause.followers} == {"call.kwargs type", "giver missing"}


def _pair(original: Observation, other: Observation) -> Pair:
    clone = faithful(other).observation
    return Pair(original, Clone(observation=clone))
