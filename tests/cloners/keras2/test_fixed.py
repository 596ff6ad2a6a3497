"""The fixed cloner for Keras 2.2 and 2.3, in the real releases, on models that are hard to clone."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from clonediff.harness.subjects.place import ReleasePlace
from tests.cloners.keras2.running import became_of_ways, said_of_models

SLOW = pytest.mark.slow(reason="a minute a release; tests/keras2 and the property tests clone models of 2.2.4, too")
MODELS = [
    node.name
    for module in ("models.py", "own_classes.py")
    for node in ast.parse(Path(__file__).with_name(module).read_text()).body
    if isinstance(node, ast.FunctionDef) and any(ast.unparse(each) == "model" for each in node.decorator_list)
]


@pytest.mark.parametrize(
    "release",
    [pytest.param(each, marks=SLOW) for each in ("keras==2.2.4", "keras==2.2.5", "keras==2.3.1")],
)
def test_every_model_is_cloned_faithfully(release: str, release_place: Callable[[str], ReleasePlace]) -> None:
    said = said_of_models(release, release_place(release), "fixed")
    assert sorted(said) == sorted(MODELS)
    assert {name: each for name, each in said.items() if each} == {}


def test_what_nobody_tells_is_refused_by_name(release_place: Callable[[str], ReleasePlace]) -> None:
    words = {
        "an_option_that_nobody_tells": ("`Derived`", "`factor`"),
        "an_option_under_another_name": ("`Renamed`", "`factor`"),
        "an_option_replaced_by_its_weight": ("`Replaced`", "`factor`"),
        "a_config_that_makes_other_weights": ("`Grown`", "1 weights where it has 3"),
        "a_config_that_is_none": ("`Nothing`", "None"),
    }
    said = said_of_models("keras==2.2.4", release_place("keras==2.2.4"), "fixed", *words)
    for model, expected in words.items():
        for word in ("Layer 'mine'", "get_config", *expected):
            assert word in said[model]["message"], said[model]


REFUSED = {
    "too few": "one for each input of model",
    "too many": "one for each input of model",
    "a dict": "must be a list of tensors",
    "an array": "must be tensors or InputLayers",
    "a tensor of a layer": "other than an `InputLayer`",
    "a tensor of a layer, for a Sequential": "other than an `InputLayer`",
}


@pytest.mark.parametrize(
    "release", ["keras==2.2.4", pytest.param("keras==2.3.1", marks=pytest.mark.slow(reason="the same as 2.2.4"))]
)
def test_tensors_that_are_given_are_built_upon(release: str, release_place: Callable[[str], ReleasePlace]) -> None:
    became = became_of_ways(release, release_place(release))
    for name, said in became.items():
        if name in REFUSED:
            assert said.startswith("ValueError") and REFUSED[name] in said, (name, said)
        else:
            assert said == "as by hand", (name, said)
    assert len(became) == 12


COULD_NOT = "AssertionError: Could not compute output Tensor"
OTHER = "AssertionError: the clone is another model"
UPSTREAM = {
    "keras==2.2.4": {"reported_bug": COULD_NOT, "initial_state": "AssertionError: "},
    "keras==2.2.5": {
        "mask_function": OTHER,
        "frozen_parts": OTHER,
        "initial_state": OTHER,
        "call_arguments_inside_a_masked_model": "AssertionError: ",
        "sequential": "NameError: name 'SCALE' is not defined",
    },
}


@pytest.mark.parametrize("release", UPSTREAM)
def test_the_same_comparison_sees_what_upstream_breaks(
    release: str, release_place: Callable[[str], ReleasePlace]
) -> None:
    said = said_of_models(release, release_place(release), "upstream", *UPSTREAM[release])
    for model, start in UPSTREAM[release].items():
        assert f"{said[model]['type']}: {said[model]['message']}".startswith(start), (model, said[model])
