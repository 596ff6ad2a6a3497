"""What a trial says of models and their clones, on both generations."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonediff.harness.subjects import Limits, Subject, SubjectProcess
from clonediff.harness.trials.trial import Trial, run
from tests.planted import planted
from tests.waiting import PATIENCE

from .models import CHAIN, FLOATS, NAMED, NO_LAMBDA, RICH, STEPS, case


def trial(subject: SubjectProcess, body: str, *cloners: str, costly: bool = False) -> Trial:
    inputs = (STEPS, FLOATS) if body is RICH else (STEPS,)
    done = run(case(body, subject.subject.generation, *inputs), subject, cloners, costly, timeout=PATIENCE)
    assert done.built, (done.refused, done.lost)
    return done


@pytest.mark.parametrize("body", [CHAIN, RICH, NAMED, NO_LAMBDA], ids=["chain", "rich", "named", "plain"])
def test_a_faithful_clone_is_seen_as_one(subject: SubjectProcess, body: str) -> None:
    assert trial(subject, body, "fixed", costly=True).clones["fixed"].differences == ()


CALLED = """
class Noted(layers.Layer):
    def call(self, x, training=None):
        self.mode = bool(training)
        return x * 2

    def get_config(self):
        return super().get_config()

x = keras.Input((3, 4), name="x")
model = keras.Model(x, layers.Dense(2)(Noted()(x)))
"""


@pytest.mark.parametrize("body", [NO_LAMBDA, CALLED], ids=["plain", "a-layer-that-notes-its-calls"])
@pytest.mark.parametrize("fault", ["original_frozen", "original_reset"])
def test_cloner_that_changes_the_original_is_reported(subject: SubjectProcess, fault: str, body: str) -> None:
    clones = trial(subject, body, "fixed", planted(fault), "upstream", costly=body is CALLED).clones
    changed = {name for name, clone in clones.items() if any(each.check == "untouched" for each in clone.differences)}
    assert changed == {planted(fault)}
    assert list(clones) == ["fixed", planted(fault), "upstream"]


CHANCE = """
import itertools
import tensorflow as tf

count = itertools.count()

@keras.utils.register_keras_serializable("own")
class Counted(layers.Layer):
    def call(self, x):
        return COUNTED

x = keras.Input((3, 4), name="x")
model = keras.Model(x, Counted(name="counted")(layers.Dense(2)(x)))
"""
RUNS = CHANCE.replace("COUNTED", "x + float(next(count))")
GRADIENTS = "import time" + CHANCE.replace(
    "COUNTED", "tf.custom_gradient(lambda x: (x, lambda g: g + time.perf_counter_ns() % 1e6))(x)"
)
GRADIENTS += "model.compile('sgd', 'mse')\n"


@pytest.mark.parametrize(
    ("body", "cloner", "checks"),
    [
        pytest.param(RUNS, "fixed", {"structure", "weights"}, id="runs"),
        pytest.param(RUNS, planted("layer_renamed"), {"structure", "weights"}, id="runs-and-a-fault"),
        pytest.param(GRADIENTS, "fixed", set(), id="gradients"),
    ],
)
def test_what_a_model_does_by_chance_is_not_judged(
    subject: SubjectProcess, body: str, cloner: str, checks: set[str]
) -> None:
    (clone,) = trial(subject, body, cloner, costly=body is GRADIENTS).clones.values()
    assert {difference.check for difference in clone.differences} <= checks


def test_of_a_long_way_to_an_exception_both_ends_are_told(subject: SubjectProcess) -> None:
    endless = case("call = lambda: call()\ncall()", subject.subject.generation)
    refused = run(endless, subject, (), timeout=PATIENCE).refused
    assert refused is not None
    assert [frame.function for frame in refused.frames] == ["<module>", *["<lambda>"] * 59]


def test_a_graph_that_keras_refuses_says_where(subject: SubjectProcess) -> None:
    body = "model = layers.Reshape((5,))(keras.Input((4,)))"
    refused = run(case(body, subject.subject.generation), subject, ("fixed",), timeout=PATIENCE).refused
    assert refused is not None
    frame, *inner = refused.frames
    assert (refused.type, frame.file, frame.function, frame.line) == ("ValueError", "<graph>", "<module>", 3)
    assert not [frame for frame in inner if frame.file.startswith("/")]


@pytest.mark.parametrize("subject", ["keras"], indirect=True)  # no optimizer of tf_keras accumulates gradients
def test_a_model_that_accumulates_gradients_can_be_trained(subject: SubjectProcess) -> None:
    body = CHAIN + "\nmodel.compile(keras.optimizers.SGD(gradient_accumulation_steps=2), 'mse')\n"
    assert trial(subject, body, "fixed", costly=True).clones["fixed"].differences == ()


def test_cloner_that_does_not_end_is_reported_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("def clone(model):\n    while True:\n        model.get_config()\n")
    name = f"{tmp_path}/endless:clone"
    with SubjectProcess(Subject.parse("keras"), limits=Limits(cloning=1.0)) as subject:
        clones = run(case(NO_LAMBDA), subject, (name, "fixed")).clones
    (cause,) = clones[name].causes
    assert (cause.root.aspect, clones["fixed"].causes) == ("process timed out", ())
    assert cause.root.raised is not None
    assert cause.root.raised.frame.startswith("keras/src/")
