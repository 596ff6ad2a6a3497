"""A model that is cloned many times in a trial: what stays alive, what is counted, and what of it is of building."""

from __future__ import annotations

import cProfile
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .models import case

keras = pytest.importorskip("keras")

from clonediff.harness.inside.often import _counted  # noqa: E402 - after it is known that there is a Keras
from clonediff.harness.inside.trial import run_trial  # noqa: E402 - as above

REGISTERED = """
@keras.saving.register_keras_serializable("of a test")
class Twice(layers.Layer):
    def call(self, x):
        return x * 2.0

inputs = keras.Input((3, 4), name="inputs")
model = keras.Model(inputs, Twice(name="twice")(inputs), name="plain")
"""
LEAKING = REGISTERED + "keras.kept_by_a_test.append(model)\n"
FLOATS = {"shape": [3, 4], "dtype": "float32", "fill": "normal"}


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    found: list[Any] = []
    monkeypatch.setattr(keras, "kept_by_a_test", found, raising=False)
    yield found
    found.clear()


def keeping(kept: list[Any]) -> Callable[[Any], Any]:
    def clone(model: Any) -> Any:
        kept.append(keras.models.clone_model(model))
        return kept[-1]

    return clone


@pytest.mark.parametrize(("source", "stays"), [(REGISTERED, True), (LEAKING, False)], ids=["clones", "builds-too"])
def test_what_stays_alive_is_told_unless_building_leaves_it_too(source: str, stays: bool, kept: list[Any]) -> None:
    cloners = {"keeps": keeping(kept), "fixed": "fixed"}
    clones = run_trial({**case(source, "keras", FLOATS), "cloners": cloners, "checks": {"often": True}})["clones"]
    assert ("Twice" in clones["keeps"]["often"]["stay"]) is stays
    assert "failure" not in clones["fixed"], "no other class has taken the place of the one that is cloned"
    assert not clones["fixed"]["often"].get("stay")


def test_calls_are_counted_and_no_profiler_stays() -> None:
    assert _counted(lambda: keeping([]))[0] >= 1
    with pytest.raises(RuntimeError, match="no clone"):
        _counted(raises)
    assert sys.getprofile() is None


def raises() -> None:
    raise RuntimeError("no clone")


def test_where_somebody_counts_already_nothing_is_counted() -> None:
    def profiler(frame: Any, event: str, argument: Any) -> None:
        pass

    sys.setprofile(profiler)
    try:
        counted = _counted(lambda: "a clone")
        there = sys.getprofile()
    finally:
        sys.setprofile(None)
    assert counted == (0, "a clone")
    assert there is profiler


def test_where_a_profile_is_made_already_it_goes_on() -> None:
    theirs = cProfile.Profile()
    theirs.enable()
    try:
        clone = _counted(lambda: "a clone")[1]
        raises_nothing()
    finally:
        theirs.disable()
    assert clone == "a clone"
    assert "raises_nothing" in {getattr(entry.code, "co_name", "") for entry in theirs.getstats()}


def raises_nothing() -> None:
    pass
