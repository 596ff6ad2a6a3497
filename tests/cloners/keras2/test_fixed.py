"""The fixed cloner for Keras 2.2 and 2.3, in the real releases, on models that are hard to clone."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import clonediff
from clonediff.harness.subjects.environment import environment
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.subject import Subject
from tests.cloners.keras2.running import Said, said_of
from tests.waiting import PATIENCE

Place = Callable[[str], ReleasePlace]

SLOW = pytest.mark.slow(reason="a minute a release; tests/keras2 and the property tests clone models of 2.2.4, too")
SAME = pytest.mark.slow(reason="the same as 2.2.4")
LAST = pytest.param("keras==2.3.1", marks=SAME)


@pytest.mark.parametrize(
    "release",
    [pytest.param(each, marks=SLOW) for each in ("keras==2.2.4", "keras==2.2.5", "keras==2.3.1")],
)
def test_every_model_is_cloned_faithfully(release: str, release_place: Place) -> None:
    said = said_of(release, release_place(release), "MODELS")["MODELS"]
    assert {name: lines for name, lines in said.items() if lines} == {}
    assert len(said) > 100


@pytest.fixture(scope="module", params=["keras==2.2.4", LAST])
def said(request: pytest.FixtureRequest, release_place: Place) -> Said:
    return said_of(request.param, release_place(request.param), "ASKED", "MISUSED", "REFUSED")


def test_a_clone_on_given_tensors_is_the_model_that_was_asked_for(said: Said) -> None:
    assert said["ASKED"]
    assert {name: lines for name, lines in said["ASKED"].items() if lines} == {}


REFUSALS = {
    "MISUSED": {
        "too few tensors": "one for each input of model",
        "too many tensors": "one for each input of model",
        "an array": "must be tensors or InputLayers",
        "a dictionary": "must be a list of tensors",
        "a tensor of a layer": "other than an `InputLayer`",
        "a tensor of a layer for a Sequential": "other than an `InputLayer`",
    },
    "REFUSED": {
        "an option under another name": "Layer 'mine'.*`Renamed`.*`factor`.*get_config",
        "an option replaced by its weight": "Layer 'mine'.*`Replaced`.*`factor`.*get_config",
        "an option that nobody tells": "Layer 'mine'.*`Derived`.*`factor`.*get_config",
        "a layer made anew that is used elsewhere": "Layer 'mine'.*`Anew`.*makes anew 'dense.*elsewhere",
        "a config that makes other weights": "Layer 'mine'.*`Grown`.*1 weights where it has 3.*get_config",
        "a config that is none": "Layer 'mine'.*`Nothing`.*get_config.*None",
    },
}


@pytest.mark.parametrize("table", REFUSALS)
def test_what_cannot_be_done_is_said(said: Said, table: str) -> None:
    assert said[table].keys() == REFUSALS[table].keys()
    for name, (line,) in said[table].items():
        assert re.search(REFUSALS[table][name], line, re.DOTALL), (name, line)


UPSTREAM = {
    "keras==2.2.4": {"the_reported_bug": "AssertionError: Could not compute output Tensor", "states_given": ""},
    "keras==2.2.5": {
        "mask_function": "",
        "all_frozen_but_for_one_layer": "",
        "states_given": "",
        "training_given_inside_of_a_masked_model": "",
        "a Lambda of a name of the module": "NameError: name 'FACTOR' is not defined",
    },
}


@pytest.mark.parametrize("release", UPSTREAM)
def test_the_same_comparison_sees_what_upstream_breaks(release: str, release_place: Place) -> None:
    place, models = release_place(release), UPSTREAM[release]
    said = said_of(release, place, "MODELS", cloner="upstream", names=models)["MODELS"]
    for model, start in models.items():
        assert said[model] and said[model][0].startswith(start), (model, said[model])


_PUBLIC = """
import keras
from clonediff import clone_model
try:
    clone_model(keras.Sequential([keras.layers.Dense(2, input_shape=(3,))]))
except TypeError as error:
    print(error)
"""


def test_the_public_cloner_says_which_kerases_it_is_for(release_place: Place) -> None:
    release = "keras==2.2.4"
    place = release_place(release)
    variables = environment(Subject.parse(release), place, os.environ)
    variables["PYTHONPATH"] = os.pathsep.join((str(Path(clonediff.__file__).parents[1]), variables["PYTHONPATH"]))
    back = "from clonediff.harness.inside.v1 import give_names_back as back; back()" if place.how == "v1 mode" else ""
    ended = subprocess.run(
        [place.python, "-c", back + _PUBLIC],
        env=variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.stdout == (
        "expected a model of Keras 3 or tf_keras, found Sequential of keras 2.2.4: "
        "make it with Keras 3, or with tf_keras, which is Keras 2\n"
    ), ended.stderr[-2000:]
