"""A trial: from the response of a subject to a verdict on each cloner, and who is to blame."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from clonediff.harness.subjects import Case, Limits, NoDeviceError, Subject, SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import run
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import Blame, Severity
from clonediff.strategies.program import Apply, ModelClass, Nest
from tests.helpers.drawn_graphs import graph_of
from tests.helpers.example_graphs import graph_of_layer
from tests.helpers.required_releases import why_missing
from tests.helpers.trials import run_trial
from tests.helpers.waiting import PATIENCE
from tests.planted import cloner_of, models

SOURCE = """
import traceback

import keras


def refuse(maker):
    if maker in {makers} and any(maker in frame.filename for frame in traceback.extract_stack()):
        raise ValueError("the layer 'watches' says no")


class Note:
    def __deepcopy__(self, memo):
        refuse("/fixed/")
        return Note()


class Watches(keras.layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.note = Note()

    def get_config(self):
        refuse("/models/cloning.py")
        return super().get_config()

    def call(self, x):
        return x


x = keras.Input((4,), name="x")
model = keras.Model(x, Watches(name="watches")(x))
"""
INPUT = {"shape": [4], "dtype": "float32", "fill": "normal"}


UPSTREAM, FIXED = "/models/cloning.py", "/fixed/"


@pytest.mark.parametrize(
    ("makers", "cloners", "blames"),
    [
        ([UPSTREAM], ("upstream", "fixed"), {"upstream": Blame.UPSTREAM}),
        ([FIXED], ("upstream", "fixed"), {"fixed": Blame.FIXED}),
        ([UPSTREAM, FIXED], ("upstream", "fixed"), {"upstream": Blame.BOTH, "fixed": Blame.BOTH}),
        ([FIXED], ("fixed",), {"fixed": Blame.UNKNOWN}),
    ],
)
def test_the_cloner_that_cannot_make_a_layer_is_blamed(
    makers: list[str], cloners: tuple[str, ...], blames: dict[str, Blame], keras: SubjectProcess
) -> None:
    clones = run(Case(SOURCE.format(makers=makers), (INPUT,)), keras, cloners, timeout=PATIENCE).clones
    assert {name: cause.blame for name, clone in clones.items() for cause in clone.causes} == blames
    verdicts = {name: clone.verdict.value for name, clone in clones.items()}
    assert verdicts == {name: "crashed" if name in blames else "faithful" for name in cloners}


def test_a_cloner_that_ends_the_process_does_not_affect_others(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues(), cloners=(cloner_of("aborts"), "fixed"))
    trial = trials.try_graph(graph_of_layer("layers.MaxPooling1D()", (4, 3)), costly=False)
    assert [clone.verdict.value for clone in trial.clones.values()] == ["killed its process", "faithful"]
    (found,) = trial.found_causes
    assert found.title.startswith("Cloning a model, or running the clone, ends its process: SIGABRT in ")
    assert (found.cause and found.cause.severity, found.cloner) == (Severity.CRASH, cloner_of("aborts"))


def test_a_refused_original_is_counted_and_has_no_findings(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues())
    trial = trials.try_graph(graph_of_layer("layers.Dense(-1)"))
    assert (trial.found_causes, trial.clones, trials.tally.refused) == ((), {}, 1)
    assert trial.refusal is not None and trial.refusal.type == "ValueError"
    frame, *inner = trial.refusal.frames
    assert (frame.file, frame.function) == ("<graph>", "<module>")
    assert not [frame for frame in inner if frame.file.startswith("/")]


def test_a_long_stack_is_cut_in_the_middle(keras: SubjectProcess) -> None:
    refusal = run(Case("call = lambda: call()\ncall()", ()), keras, (), timeout=PATIENCE).refusal
    assert refusal is not None and [frame.function for frame in refusal.frames] == ["<module>", *["<lambda>"] * 59]


def test_an_original_that_does_not_run_is_counted_separately(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues())
    trial = trials.try_graph(graph_of_layer("layers.Embedding(1, 4)", (3,), dtype="int32", fill="ids", high=6))
    assert trial.is_built and [found.cause.root.aspect for found in trial.found_causes if found.cause] == ["name"]
    assert (trials.tally.cannot_run, trials.tally.verdicts, trials.tally.worst) == (1, {}, {})


FAULTS = {
    "crash_on_outputs": Severity.CRASH,
    "outputs_reversed": Severity.OUTPUT,
    "weights_copied": Severity.TRAINING,
    "layer_renamed": Severity.NAME,
}


@pytest.mark.parametrize("at_least", Severity)
def test_less_severe_causes_are_left_out_and_counted_separately(at_least: Severity, keras: SubjectProcess) -> None:
    faults = {cloner_of(fault): severity for fault, severity in FAULTS.items()}
    trials = GraphTrials(keras, KnownIssues(), cloners=(*faults, "fixed"), at_least=at_least)
    trial = trials.try_case(models.case("several", "keras"))
    causes = {found.cloner: found.cause.severity for found in reversed(trial.found_causes) if found.cause is not None}
    assert causes == {name: severity for name, severity in faults.items() if severity <= at_least}
    assert {name for name, verdict in trials.tally.verdicts if verdict == "left out"} == set(faults) - set(causes)
    assert trials.tally.worst == dict.fromkeys(causes.items(), 1)
    assert trials.tally.verdicts["fixed", "faithful"] == 1


RAISING_CLONERS = """
def fault():
    raise TypeError("could not locate 'transform'")


def wrap(kind, text, cause=True):
    try:
        fault()
    except TypeError as error:
        if cause:
            raise kind(text.format(error))
        raise kind(text.format(error)) from None


def from_config(text):
    try:
        fault()
    except TypeError as error:
        raise ValueError(text.format(error))
"""
ERRORS = {
    "fault()": "TypeError in raises.py:fault",
    "wrap(TypeError, 'Exception encountered: {}')": "TypeError in raises.py:fault",
    "wrap(ValueError, 'no layer: {}')": "ValueError in raises.py:wrap",
    "from_config('Error when deserializing: {}')": "ValueError in raises.py:fault",
    "wrap(TypeError, 'no such layer')": "TypeError in raises.py:wrap",
    "wrap(TypeError, 'in a layer: {}', cause=False)": "TypeError in raises.py:wrap",
}
"""For each line of a cloner, the exception that the title names, and where it was raised."""


def test_the_cause_of_a_wrapped_exception_is_the_inner_exception(keras: SubjectProcess, tmp_path: Path) -> None:
    functions = [f"\n\ndef clone_{number}(model):\n    {line}\n" for number, line in enumerate(ERRORS)]
    (tmp_path / "raises.py").write_text(RAISING_CLONERS + "".join(functions))
    cloners = [f"{tmp_path}/raises:clone_{number}" for number in range(len(ERRORS))]
    trials = GraphTrials(keras, KnownIssues(), cloners=cloners)
    causes = trials.try_case(models.case("compiled", "keras")).found_causes
    assert [cause.title for cause in causes] == [f"A model cannot be cloned: {raised}" for raised in ERRORS.values()]


@pytest.mark.parametrize("own", get_args(ModelClass))
def test_a_custom_model_has_the_same_cause_as_a_plain_model(own: ModelClass, keras: SubjectProcess) -> None:
    nest = Nest((Apply("Dense", (("units", "2"),)),), frozen=True, own=own)
    trials = GraphTrials(keras, KnownIssues(), cloners=(cloner_of("trainable_forgotten"),))
    (found,) = trials.try_graph(graph_of(nest)).found_causes
    assert found.fingerprint == "structure-trainable-functional-d148cadb"


@pytest.mark.parametrize("fault", ["original_frozen", "original_reset"])
def test_only_the_cloner_that_changes_the_original_is_blamed(fault: str, keras: SubjectProcess) -> None:
    clones = run_trial(models.case("compiled", "keras"), keras, cloner_of(fault), "fixed").clones
    assert "untouched" in {difference.check for difference in clones[cloner_of(fault)].differences}
    assert clones["fixed"].differences == ()


FAITHFUL_LAYERS = {
    "random outputs": """
    def call(self, x):
        return x + float(next(count))
""",
    "random gradients": """
    def call(self, x):
        return tf.custom_gradient(lambda x: (x, lambda g: g + time.perf_counter_ns() % 1e6))(x)
""",
    "records the mode": """
    def call(self, x, training=None):
        self.mode = training
        return x
""",
    "built by a run": """
    def __init__(self, **options):
        super().__init__(**options)
        self.inner = Inner()

    def build(self, shape):
        self.built = True

    def compute_output_spec(self, x):
        return keras.KerasTensor(x.shape, x.dtype)

    def call(self, x):
        return self.inner(x)
""",
    "a class property": """
    presets = ClassProperty(lambda kind: {"first": ["a", "b"]})

    def call(self, x):
        return x * 1.0
""",
}
"""Methods of a layer whose effect on a faithful clone could be mistaken for a difference."""
LAYER_MODEL = """
import itertools
import time
import keras
import tensorflow as tf
from keras import layers

count = itertools.count()


class ClassProperty(property):
    def __get__(self, instance, owner=None):
        return self.fget(owner)


class Inner(layers.Layer):
    def build(self, shape):
        self.scale = 2.0
        self.built = True

    def call(self, x):
        return x * self.scale


class CustomLayer(layers.Layer):
{methods}

x = keras.Input((4,), name="x")
model = keras.Model(x, CustomLayer(name="custom")(layers.Dense(4)(x)))
model.compile(keras.optimizers.SGD(gradient_accumulation_steps=2), "mse")
"""


@pytest.mark.parametrize("name", FAITHFUL_LAYERS)
def test_a_faithful_clone_has_no_differences(name: str, keras: SubjectProcess) -> None:
    case = Case(LAYER_MODEL.format(methods=FAITHFUL_LAYERS[name]), (INPUT,))
    assert run_trial(case, keras, "fixed", costly=True).clones["fixed"].differences == ()


def test_an_endless_cloner_is_reported_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("def clone(model):\n    while True:\n        model.get_config()\n")
    name = f"{tmp_path}/endless:clone"
    with SubjectProcess(Subject.parse("keras"), limits=Limits(cloning=1.0)) as process:
        clones = run(models.case("compiled", "keras"), process, (name, "fixed")).clones
    (cause,) = clones[name].causes
    assert (cause.root.aspect, clones["fixed"].causes) == ("process timed out", ())
    assert cause.root.raised is not None and cause.root.raised.frame.startswith("keras/src/")


@pytest.mark.slow(reason="it starts a process with Keras")
@pytest.mark.parametrize("name", ["keras", "tf_keras", "keras/jax", "keras/torch"])
def test_the_error_for_a_missing_gpu_names_the_devices(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := why_missing(name):
        pytest.skip(reason=reason)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(NoDeviceError, match=rf"^{name}@gpu: \w+ \S+ sees no gpu:0 here, only cpu:0.* ask for {name}$"):
        SubjectProcess(Subject.parse(f"{name}@gpu")).start()
