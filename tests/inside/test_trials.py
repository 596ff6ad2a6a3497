"""What a trial says of models and their clones, on both generations."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clonediff.harness.inside.frameworks import framework
from clonediff.harness.inside.serve import Server
from clonediff.harness.subjects.observation import Answer, Observation, Shape
from clonediff.harness.subjects.process import Limits, SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.checks import compare
from clonediff.harness.trials.trial import run
from tests.planted import planted

from .models import CHAIN, FLOATS, NAMED, NO_LAMBDA, RICH, STEPS, case


def trial(
    subject: SubjectProcess,
    body: str,
    *inputs: dict[str, Any],
    cloners: tuple[str, ...] = ("fixed",),
    costly: bool = False,
) -> Answer:
    outcome = subject.trial(case(body, subject.subject.generation, *inputs), cloners=cloners, costly=costly)
    assert isinstance(outcome, Answer)
    return outcome


def original(answer: Answer) -> Observation:
    assert answer.original is not None
    return answer.original


def clone(answer: Answer, cloner: str = "fixed") -> Observation:
    observation = answer.clones[cloner].observation
    assert observation is not None
    return observation


def plain(shape: Shape | None) -> Any:
    """The same data, objects no longer told apart, nor what else they are used for."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(item) for key, item in value.items() if key not in ("ident", "nodes", "attributes")}
        return [without(item) for item in value] if isinstance(value, list | tuple) else value

    return without(msgspec.to_builtins(shape))


@pytest.mark.parametrize("body", [CHAIN, RICH, NAMED], ids=["chain", "rich", "named"])
def test_a_faithful_clone_is_seen_as_one(subject: SubjectProcess, body: str) -> None:
    inputs = [STEPS, FLOATS] if body is RICH else [STEPS]
    answer = trial(subject, body, *inputs, costly=True)
    ours, fixed = original(answer), answer.clones["fixed"]
    assert fixed.again is not None
    assert fixed.twice is not None
    for part in ("inference", "training", "trained", "copied_weights"):
        assert getattr(fixed.observation, part) == getattr(ours, part), part
    for observation in (clone(answer), fixed.again, fixed.twice):
        assert plain(observation.shape) == plain(ours.shape)
    assert all(clone(answer).fresh)
    objects, theirs = (
        {thing.ident for things in (shape.layers, shape.weights, shape.states) for thing in things}
        for shape in (ours.shape, clone(answer).shape)
    )
    assert not objects & theirs


def test_layers_calls_and_roles(subject: SubjectProcess) -> None:
    shape = original(trial(subject, RICH, STEPS, FLOATS, cloners=())).shape
    number = {layer.name: index for index, layer in enumerate(shape.layers)}
    layers = {layer.name: layer for layer in shape.layers}
    assert [call.args for call in layers["shared"].calls][2] == [{"tensor": [number["shared"], 0, 0]}]
    assert layers["inner_dense"].inside == number["inner"]
    (cell,) = (layer for layer in shape.layers if layer.role == "cell")
    assert cell.inside == number["lstm"]
    assert layers["lstm"].calls[0].kwargs == {"mask": {"tensor": [number["mask"], 0, 0]}}
    assert [end.tensor for end in shape.outputs] == [(number[name], 0, 0) for name in ("norm", "inner", "norm")]
    assert layers["scaled"].config["arguments"].endswith("by: 3.0}")


def test_every_layer_says_what_it_gave(subject: SubjectProcess) -> None:
    seen = original(trial(subject, RICH, STEPS, FLOATS, cloners=()))
    run = seen.inference
    assert run is not None
    names = [seen.shape.layers[step.layer].name for step in run.steps]
    assert {"masking", "shared", "scaled", "add", "frozen", "drop", "lstm", "norm", "inner", "inner_dense"} <= {*names}
    assert [step.use for step, name in zip(run.steps, names, strict=True) if name == "shared"] == [0, 1, 2]
    assert run.steps[names.index("masking")].outputs[0].mask
    assert run.steps[-1].outputs[0].digest in {leaf.digest for leaf in run.outputs}


def test_training_differs_from_inference_and_leaves_nothing_behind(subject: SubjectProcess) -> None:
    answer = trial(subject, NO_LAMBDA, cloners=("fixed", "upstream"), costly=True)
    ours = original(answer)
    assert ours.inference != ours.training
    assert len(set(ours.copied_weights)) == len(ours.copied_weights) == 6
    for name, seen in answer.clones.items():
        for part in ("inference", "training", "trained"):
            assert getattr(clone(answer, name), part) == getattr(ours, part)
        assert seen.original_after is None
    again = trial(subject, NO_LAMBDA, cloners=("fixed", "upstream"), costly=True)
    assert msgspec.structs.replace(again, seconds=0.0) == msgspec.structs.replace(answer, seconds=0.0)


def test_cloners_that_go_through_configs_and_copies(subject: SubjectProcess) -> None:
    answer = trial(subject, NO_LAMBDA, cloners=("roundtrip", "deepcopy"))
    roundtrip, copied = clone(answer, "roundtrip"), clone(answer, "deepcopy")
    assert roundtrip.inference == original(answer).inference
    assert (roundtrip.brought, copied.brought) == (None, original(answer).copied_weights)
    assert all(copied.fresh), "it is to bring these values"


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
def test_after_a_cloner_that_changes_the_original_no_other_is_called(
    subject: SubjectProcess, fault: str, body: str
) -> None:
    answer = trial(subject, body, cloners=("fixed", planted(fault), "upstream"), costly=body is CALLED)
    assert list(answer.clones) == ["fixed", planted(fault)]
    fixed, changed = answer.clones.values()
    assert fixed.original_after is None
    assert changed.original_after is not None
    values = {weight.value for weight in changed.original_after.weights}
    assert ("changed" in values) is (fault == "original_reset")


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
GRADIENTS = CHANCE.replace("COUNTED", "tf.custom_gradient(lambda x: (x, lambda g: g + float(next(count))))(x)")


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
    answer = trial(subject, body, cloners=(cloner,), costly=body is GRADIENTS)
    assert {difference.check for difference in compare(original(answer), answer.clones[cloner])} <= checks


DEFAULTS = """
class Apart(layers.Layer):
    def call(self, inputs, mask=None, training=None, by=1.0, flag=False):
        return inputs * by

inputs = keras.Input((3, 4))
x = Apart()(inputs, CALL)
model = keras.Model(inputs, x)
"""
BY_DEFAULT: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "mask=None, training=None, by=1.0": ([], {}),
    "by=2.0, flag=False": ([], {"by": 2.0}),
    "training=False": ([], {"training": False}),
    "flag=0": ([], {"flag": 0}),
    "None, None, 2.0, False": ([None, None, 2.0], {}),
}


@pytest.mark.parametrize("text", BY_DEFAULT)
def test_an_argument_that_a_call_has_by_default_is_left_out(subject: SubjectProcess, text: str) -> None:
    if subject.subject.generation == "keras" and text.startswith("None"):
        pytest.skip("Keras 3 takes nothing but tensors by their place")
    call = original(trial(subject, DEFAULTS.replace("CALL", text), cloners=())).shape.layers[-1].calls[0]
    assert (call.args[1:], call.kwargs) == BY_DEFAULT[text]


def test_where_a_mask_comes_in_none_is_told(subject: SubjectProcess) -> None:
    body = """
inputs = keras.Input((3, 4))
model = keras.Model(inputs, layers.Dropout(0.5)(layers.LSTM(2)(layers.Masking()(inputs), mask=None)))
"""
    shape = original(trial(subject, body, STEPS, cloners=())).shape
    (lstm,) = (layer for layer in shape.layers if layer.kind == "LSTM")
    assert lstm.calls[0].kwargs == {"mask": None}


def test_a_graph_that_keras_refuses_says_where(subject: SubjectProcess) -> None:
    refused = trial(subject, "model = layers.Reshape((5,))(keras.Input((4,)))").refused
    assert refused is not None
    frame, *inner = refused.frames
    assert (refused.type, frame.file, frame.function, frame.line) == ("ValueError", "<graph>", "<module>", 3)
    assert not [frame for frame in inner if frame.file.startswith("/")]


@pytest.mark.parametrize("subject", ["keras"], indirect=True)  # no optimizer of tf_keras accumulates gradients
def test_a_model_that_accumulates_gradients_can_be_trained(subject: SubjectProcess) -> None:
    body = CHAIN + "\nmodel.compile(keras.optimizers.SGD(gradient_accumulation_steps=2), 'mse')\n"
    answer = trial(subject, body, STEPS, costly=True)
    assert clone(answer).trained == original(answer).trained


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{no json", "Expecting property name"),
        ("[1]", "a request is a JSON object"),
        ('{"do": "dance"}', "choose one of cloner"),
        ('{"do": "trial", "id": 3}', "needs the field `source`"),
    ],
)
def test_what_cannot_be_answered_is_an_error(line: str, message: str) -> None:
    answers = io.StringIO()
    Server(framework("keras"), answers).serve(io.StringIO(line + "\n"))
    assert message in json.loads(answers.getvalue())["error"]["message"]


def test_a_cloner_that_does_not_end_is_told_of_with_its_place_and_the_others_are_asked(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("def clone(model):\n    while True:\n        model.get_config()\n")
    name = f"{tmp_path}/endless:clone"
    with SubjectProcess(Subject.parse("keras"), limits=Limits(cloning=1.0)) as subject:
        clones = run(case(NO_LAMBDA), subject, (name, "fixed")).clones
    (cause,) = clones[name].causes
    assert (cause.root.aspect, clones["fixed"].causes) == ("process timed out", ())
    assert cause.root.raised is not None
    assert cause.root.raised.frame.startswith("keras/src/")
