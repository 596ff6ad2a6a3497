"""What is alive once a trial is over: no model of it, nor any class that its source defines."""

from __future__ import annotations

import gc
from collections import Counter

import pytest

from .models import case

keras = pytest.importorskip("keras")

from clonediff.harness.inside.by_class import once_a_class  # noqa: E402 - after it is known that there is a Keras
from clonediff.harness.inside.trial import run_trial  # noqa: E402 - as above

OWN_AND_COMPILED = """
class Halved(layers.Layer):
    @property
    def half(self):
        return 0.5

    def call(self, x):
        return x * self.half

inputs = keras.Input((3, 4), name="inputs")
model = keras.Model(inputs, layers.Dense(2, name="dense")(Halved(name="halved")(inputs)), name="plain")
model.compile("sgd", "mse", metrics=["mae"])
"""
FLOATS = {"shape": [3, 4], "dtype": "float32", "fill": "normal"}


@pytest.mark.parametrize("costly", [False, True], ids=["plain", "costly"])
def test_no_model_and_no_class_stays_of_a_trial(costly: bool) -> None:
    def alive() -> Counter[str]:
        gc.collect()
        found = [each for each in gc.get_objects() if issubclass(type(each), (keras.layers.Layer, type))]
        classes = [each.__name__ for each in found if isinstance(each, type) and each.__name__ == "Halved"]
        return Counter(classes + [each.name for each in found if not isinstance(each, type)])

    request = {**case(OWN_AND_COMPILED, "keras", FLOATS), "cloners": ["upstream", "fixed"]}
    before = alive()
    clones = run_trial({**request, "costly": costly})["clones"]
    assert all("observation" in clone for clone in clones.values())
    assert not alive() - before


def test_what_is_found_out_about_a_class_is_found_out_once_and_goes_with_it() -> None:
    asked: list[str] = []

    @once_a_class
    def name(kind: type) -> str:
        asked.append(kind.__name__)
        return kind.__name__

    def one() -> None:
        kind = type("Momentary", (), {})
        assert [name(kind), name(kind)] == ["Momentary", "Momentary"]

    one()
    one()
    gc.collect()
    assert asked == ["Momentary", "Momentary"], "another class of that name is another class"
    classes = [each for each in gc.get_objects() if issubclass(type(each), type)]
    assert "Momentary" not in [each.__name__ for each in classes]
