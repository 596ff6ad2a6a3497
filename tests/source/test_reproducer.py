"""Scripts that show a difference: what they compare, and what a run of them proves."""

from __future__ import annotations

import ast

import pytest

from harness.campaign.proof import Ended, ended_so, fails_alone, raised_in
from harness.source.reproducer import Script, reproducer
from harness.subjects.subject import Subject
from reports.records import Cost, Difference, Numbers, Place, Raised
from strategies.kinds import Generation

SOURCES: dict[Generation, str] = {
    "keras": "import keras\n\ninputs = keras.Input(shape=(4,))\nmodel = keras.Model(inputs, inputs)\n",
    "tf_keras": "import tf_keras as keras\n\ninputs = keras.Input(shape=(4,))\nmodel = keras.Model(inputs, inputs)\n",
}


def difference(check: str, path: str, aspect: str = "value", first: Place | None = None) -> Difference:
    return Difference(check, path, aspect, "this", "that", Cost.PROPERTY, first)


INPUT = Place("input_layer", "InputLayer", 0)


@pytest.mark.parametrize("generation", SOURCES)
@pytest.mark.parametrize(
    "one",
    [
        pytest.param(difference("outputs", "inference.outputs[0]"), id="outputs"),
        pytest.param(difference("masks", "training.outputs[0]", "mask lost"), id="masks"),
        pytest.param(difference("weights", "weights[0].name", "weight name"), id="weights"),
        pytest.param(difference("structure", "layers['input_layer'].trainable", "trainable", INPUT), id="trainable"),
        pytest.param(
            difference("structure", "layers['input_layer'].config.optional", "config.optional", INPUT), id="config"
        ),
    ],
)
def test_a_script_is_python_that_compares_what_differed(one: Difference, generation: Generation) -> None:
    script = reproducer(SOURCES[generation], generation, one)
    ast.parse(script.text)
    assert script.raises == "AssertionError"
    assert script.sure


@pytest.mark.parametrize("generation", SOURCES)
def test_a_script_does_not_fail_where_nothing_differs(generation: Generation) -> None:
    script = reproducer(SOURCES[generation], generation, difference("outputs", "inference.outputs[0]"))
    assert fails_alone(script, Subject.parse(generation)) is False


def test_a_script_that_fails_in_another_way_proves_nothing() -> None:
    keras = Subject.parse("keras")
    assert fails_alone(Script("assert False\n", "AssertionError", sure=True), keras) is True
    assert fails_alone(Script("1 / 0\n", "AssertionError", sure=True), keras) is False
    assert fails_alone(Script("1 / 0\n", "AssertionError"), keras) is None
    assert fails_alone(Script("import harness\n", "AssertionError", sure=True), keras) is False


@pytest.mark.parametrize(
    ("ended", "sure", "proves"),
    [
        pytest.param(Ended(1, "AssertionError: no\n"), True, True, id="the exception"),
        pytest.param(Ended(0, "AssertionError\n"), True, False, id="told and caught"),
        pytest.param(Ended(0, ""), False, None, id="a comparison of something else"),
        pytest.param(Ended(-11, ""), True, False, id="a signal"),
        pytest.param(Ended(None, "AssertionError\n"), True, None, id="its time was over"),
    ],
)
def test_how_a_script_ends_is_what_it_proves(ended: Ended, sure: bool, proves: bool | None) -> None:
    assert ended_so(Script("assert False\n", "AssertionError", sure=sure), ended) is proves


def test_a_crash_is_proved_by_its_own_exception() -> None:
    crash = Difference(
        "made", "clone", "raises", "a clone", "ValueError: no", Cost.CRASHES, raised=Raised("ValueError", "no")
    )
    assert reproducer(SOURCES["keras"], "keras", crash).raises == "ValueError"


def test_what_takes_more_than_a_screen_is_not_claimed() -> None:
    script = reproducer(SOURCES["keras"], "keras", difference("saved", "saved.run"))
    assert (script.raises, script.sure) == ("", False)


def test_a_cloner_of_ours_is_not_taken_for_another() -> None:
    script = reproducer(SOURCES["keras"], "keras", difference("outputs", "inference.outputs[0]"), "planted/x")
    assert "clone_model" not in script.text


def test_exceptions_are_read_from_a_traceback() -> None:
    assert raised_in("Traceback ...:\n  File x\na.b.StagingError: no\n") == ("StagingError",)


def test_values_that_differ_are_told_as_numbers() -> None:
    numbers = Numbers(max_abs=0.5, differing=3, total=6, index=(0, 1), expected="1.0", found="1.5")
    difference = Difference(
        "outputs", "inference.outputs[0]", "value", "a digest", "another", Cost.COMPUTES, numbers=numbers
    )
    text = reproducer("import keras\nmodel = 1\n", "keras", difference).text
    assert (
        "#   original: 1.0 at [0, 1]\n#   clone:    1.5 at [0, 1]\n#   3 of 6 numbers differ, by 0.5 at most\n" in text
    )
    assert "digest" not in text
