"""A step by `fit` itself: of a compiled model and its clones in a real process, and as it is compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.subjects.observation import Clone, Failure, Fitted, Leaf, Observation
from clonediff.harness.trials.checks import compare
from clonediff.harness.trials.checks.roots import roots
from clonediff.harness.trials.trial import Trial, run
from clonediff.reports.records import Difference, Severity
from tests.waiting import PATIENCE

from .making import chain, faithful

HEAD = "import {keras} as keras\nfrom {keras} import layers\na, b = (keras.Input((3,), name=name) for name in 'ab')\n"
MODELS = {
    "one": """
x = layers.BatchNormalization()(layers.Dropout(0.5)(layers.Dense(4)(a)))
model = keras.Model(a, layers.Dense(2, name="y")(x))
model.compile("adam", "mse", metrics=["mae"], weighted_metrics=["mse"])
""",
    "by-name": """
x = layers.Concatenate()([a, b])
model = keras.Model([a, b], [layers.Dense(2, name="y")(x), layers.Dense(1, name="z")(x)])
model.compile(keras.optimizers.SGD(0.5, momentum=0.25), {{"z": "mse", "y": "mae"}})
""",
    "nested": """
model = keras.Model({{"b": b, "a": a}}, {{"z": layers.Dense(2)(a), "y": layers.Dense(2)(b)}})
model.compile("sgd", {{"z": "mse", "y": "mae"}}, jit_compile=True)
""",
    "sequential": """
model = keras.Sequential([layers.InputLayer((3,)), layers.Dense(2), layers.GaussianNoise(0.5)])
model.compile("rmsprop", "mse", steps_per_execution=2)
""",
}
NO_LOSS = """
model = keras.Model(a, layers.Dense(2)(a))
model.compile("sgd")
"""
UNSTEADY = """
import random

class Odd(keras.Model):
    def compute_loss(self, *args, **kwargs):
        return super().compute_loss(*args, **kwargs) * random.SystemRandom().random()

model = Odd(a, layers.Dense(2)(a))
model.compile("sgd", "mse")
"""
HAS_STEPS = MODELS["one"] + "model.fit(keras.ops.ones((2, 3)), keras.ops.ones((2, 2)), verbose=0)\n"


def tried(source: str, process: SubjectProcess, *cloners: str, inputs: int = 1) -> Trial:
    text = (HEAD + source).format(keras=process.subject.package)
    case = Case(text, tuple({"shape": [3], "dtype": "float32"} for _ in range(inputs)))
    trial = run(case, process, cloners, ("training_step",), timeout=PATIENCE)
    assert trial.built, (trial.refused, trial.lost)
    return trial


def by_fit(trial: Trial, cloner: str) -> list[Difference]:
    return [each for each in trial.clones[cloner].differences if each.path.startswith("fitted")]


@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
@pytest.mark.parametrize("model", MODELS)
def test_fit_makes_the_same_of_a_clone(model: str, generation: str, warm: Callable[[str], SubjectProcess]) -> None:
    faults = ("planted/prepared_fitted_otherwise", "planted/prepared_fit_refused")
    inputs = 2 if model in ("by-name", "nested") else 1
    trial = tried(MODELS[model], warm(generation), "fixed", *faults, inputs=inputs)
    fitted = trial.original.fitted if trial.original else None
    assert fitted is not None and fitted.failure is None and fitted.why == ""
    assert "loss" in fitted.results
    assert by_fit(trial, "fixed") == []
    found = {fault: {(each.check, each.aspect) for each in by_fit(trial, fault)} for fault in faults}
    assert ("training", "fit weight value") in found[faults[0]]
    assert generation == "tf_keras" or ("training", "fit result value") in found[faults[0]]  # told by `compiled_loss`
    assert found[faults[1]] == {("training", "raises")}


def test_data_and_results_go_by_name(keras: SubjectProcess) -> None:
    trial = tried(MODELS["by-name"], keras, "planted/prepared_fit_by_other_names", inputs=2)
    assert trial.original is not None and trial.original.fitted is not None
    assert set(trial.original.fitted.results) == {"loss", "y_loss", "z_loss"}
    assert {each.aspect for each in by_fit(trial, "planted/prepared_fit_by_other_names")} == {"raises"}


def test_a_clone_is_compiled_by_hand_as_well(keras: SubjectProcess) -> None:
    fault = "planted/prepared_compiled_by_hand_otherwise"
    trial = tried(MODELS["by-name"], keras, "fixed", fault, inputs=2)
    assert trial.clones["fixed"].differences == ()
    found = {(each.path, each.aspect) for each in trial.clones[fault].differences if each.check == "training"}
    assert {aspect for _, aspect in found} == {"fit weight value"}
    assert all(path.startswith("by_hand.weights") for path, _ in found)


FORGETFUL = """
class Forgetful(keras.optimizers.SGD):
    def get_config(self):
        return {{**super().get_config(), "learning_rate": 0.5}}

model = keras.Model(a, layers.Dense(2)(a))
model.compile(Forgetful(0.25), "mse")
"""


def test_what_an_optimizer_does_not_tell_no_clone_has_lost(keras: SubjectProcess) -> None:
    trial = tried(FORGETFUL, keras, "fixed")
    assert trial.original is not None and trial.original.fitted_by_hand is not None
    assert trial.original.fitted_by_hand.weights != trial.original.fitted.weights if trial.original.fitted else False
    assert not [each for each in trial.clones["fixed"].differences if each.path.startswith("by_hand")]


def test_what_both_cannot_do_is_no_difference(keras: SubjectProcess) -> None:
    trial = tried(NO_LOSS, keras, "fixed", "planted/prepared_fit_refused")
    assert trial.original is not None and trial.original.fitted is not None
    assert trial.original.fitted.failure is not None
    assert by_fit(trial, "fixed") == by_fit(trial, "planted/prepared_fit_refused") == []


@pytest.mark.parametrize(
    ("source", "why"), [(UNSTEADY, "gives something else"), (HAS_STEPS, "has made steps")], ids=["unsteady", "steps"]
)
def test_what_the_original_does_not_repeat_is_not_compared(source: str, why: str, keras: SubjectProcess) -> None:
    trial = tried(source, keras, "fixed")
    assert trial.original is not None and trial.original.fitted is not None
    assert why in trial.original.fitted.why
    assert by_fit(trial, "fixed") == []


@pytest.mark.parametrize("asked", [("saving",), ()], ids=["other-parts", "none"])
def test_it_is_for_trials_with_a_training_step(asked: tuple[str, ...], keras: SubjectProcess) -> None:
    case = Case((HEAD + MODELS["one"]).format(keras="keras"), ({"shape": [3], "dtype": "float32"},))
    trial = run(case, keras, ("fixed",), asked, timeout=PATIENCE)
    assert trial.original is not None and trial.original.fitted is None


GIVEN = Fitted({"loss": "1", "mae": "2"}, (Leaf((4, 4), "float32", "w"),) * 2)
NO, OTHER = Failure("ValueError", "no"), Failure("TypeError", "no")


@pytest.mark.parametrize(
    ("want", "have", "aspects"),
    [
        (GIVEN, GIVEN, []),
        (GIVEN, None, []),
        (None, GIVEN, []),
        (replace(GIVEN, why="unsteady"), Fitted(failure=NO), []),
        (Fitted(failure=NO), Fitted(failure=Failure("ValueError", "not so")), []),
        (Fitted(failure=NO), Fitted(failure=OTHER), ["fit raises another"]),
        (Fitted(failure=NO), GIVEN, ["fit no longer raises"]),
        (GIVEN, Fitted(failure=NO), ["raises"]),
        (GIVEN, replace(GIVEN, results={"loss": "1", "mae": "3"}), ["fit result value"]),
        (GIVEN, replace(GIVEN, results={"loss": "1", "mse": "2"}), ["fit result missing", "fit result extra"]),
        (GIVEN, replace(GIVEN, weights=GIVEN.weights[:1]), ["fit weight count"]),
        (GIVEN, replace(GIVEN, weights=(GIVEN.weights[0], Leaf((4, 4), "float32", "v"))), ["fit weight value"]),
        (GIVEN, replace(GIVEN, weights=(GIVEN.weights[0], Leaf((4, 4), "float16", "w"))), ["fit weight dtype"]),
        (GIVEN, replace(GIVEN, weights=(GIVEN.weights[0], Leaf((4,), "float32", "w"))), ["fit weight shape"]),
    ],
)
def test_what_fit_gives_is_compared(want: Fitted | None, have: Fitted | None, aspects: list[str]) -> None:
    original, clone = fitted(want, have)
    found = compare(original, clone)
    assert [(each.check, each.aspect) for each in found] == [("training", aspect) for aspect in aspects]
    assert all(each.severity is Severity.CRASHES for each in found if each.aspect == "raises")


def test_that_fit_raises_follows_from_another_name_of_an_input() -> None:
    original, clone = fitted(GIVEN, Fitted(failure=NO))
    raises = compare(original, clone)[0]
    renamed = Difference("structure", "inputs[0].name", "input name", "'a'", "'b'", Severity.NAME, raises.first)
    assert roots(original, [raises, renamed]) == [(renamed, [raises])]
    called = replace(raises, check="outputs", path="inference")
    assert len(roots(original, [called, renamed])) == 2


def fitted(want: Fitted | None, have: Fitted | None) -> tuple[Observation, Clone]:
    original, clone = chain(), faithful(chain())
    assert clone.observation is not None
    changed: Any = replace(clone, observation=replace(clone.observation, fitted=have))
    return replace(original, fitted=want), changed
