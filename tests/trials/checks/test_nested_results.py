"""What a layer or a model within a model gives, as it is nested: observed in a run, and compared."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.trial import run
from tests.waiting import PATIENCE

HEAD = "import {keras} as keras\nfrom {keras} import layers\na, b = (keras.Input((3,), name=name) for name in 'ab')\n"
WITHIN = """
inner = keras.Model(b, {gives}, name="inner")
given = inner(a)
model = keras.Model(a, layers.Dense(2)({taken}))
"""
NESTED = {
    "tensor": ("layers.Dense(2)(b)", "given", 0),
    "list": ("[layers.Dense(2)(b), b]", "given[0]", [0, 1]),
    "list-of-one": ("[layers.Dense(2)(b)]", "given[0] if isinstance(given, list) else given", None),
    "dict": (
        "{'z': layers.Dense(2)(b), 'y': b}",
        "given['z']",
        [{"dict": [["z", 0], ["y", 1]]}, {"dict": [["y", 0], ["z", 1]]}],
    ),
}


@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
@pytest.mark.parametrize("gives", NESTED)
def test_what_a_model_within_gives_is_observed(
    gives: str, generation: str, warm: Callable[[str], SubjectProcess]
) -> None:
    made, taken, wanted = NESTED[gives]
    source = HEAD.format(keras=generation) + WITHIN.format(gives=made, taken=taken)
    case = Case(source, ({"shape": [3], "dtype": "float32"},))
    trial = run(case, warm(generation), ["fixed"], timeout=PATIENCE)
    assert trial.original is not None and trial.original.inference is not None, (trial.refused, trial.lost)
    names = [layer.name for layer in trial.original.shape.layers]
    found = [step.structure for step in trial.original.inference.steps if names[step.layer] == "inner"]
    assert len(found) == 1
    if wanted is not None:
        assert found[0] in (wanted if gives == "dict" else [wanted])  # some releases sort the keys
    assert [each for each in trial.clones["fixed"].differences if "structure" in each.path] == []
