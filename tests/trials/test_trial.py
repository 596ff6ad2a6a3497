"""A trial: from what a subject answers to a verdict on each cloner, and whose fault it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import run
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import Blame, Severity
from tests.example_graphs import of_layer
from tests.planted import models, planted
from tests.waiting import PATIENCE

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
        ([FIXED], ("upstream", "fixed"), {"fixed": Blame.OURS}),
        ([UPSTREAM, FIXED], ("upstream", "fixed"), {"upstream": Blame.BOTH, "fixed": Blame.BOTH}),
        ([FIXED], ("fixed",), {"fixed": Blame.UNKNOWN}),
    ],
)
def test_who_cannot_make_a_layer_is_to_blame(
    makers: list[str], cloners: tuple[str, ...], blames: dict[str, Blame], keras: SubjectProcess
) -> None:
    clones = run(Case(SOURCE.format(makers=makers), (INPUT,)), keras, cloners, timeout=PATIENCE).clones
    assert {name: cause.blame for name, clone in clones.items() for cause in clone.causes} == blames
    verdicts = {name: clone.verdict.value for name, clone in clones.items()}
    assert verdicts == {name: "crashed" if name in blames else "faithful" for name in cloners}


def test_cloner_that_ends_the_process_is_known_and_others_are_judged(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues(), cloners=(planted("aborts"), "fixed"))
    trial = trials.try_graph(of_layer("layers.MaxPooling1D()", (4, 3)), costly=False)
    assert [clone.verdict.value for clone in trial.clones.values()] == ["killed its process", "faithful"]
    (hit,) = trial.hits
    assert hit.title.startswith("Cloning a model, or running the clone, ends its process: SIGABRT in ")
    assert (hit.cause and hit.cause.severity, hit.cloner) == (Severity.CRASHES, planted("aborts"))


def test_an_original_that_is_refused_is_counted_and_shows_nothing(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues())
    trial = trials.try_graph(of_layer("layers.Dense(-1)"))
    assert (trial.hits, trial.clones, trials.tally.refused) == ((), {}, 1)
    assert trial.refused is not None and trial.refused.type == "ValueError"


def test_original_that_does_not_run_is_counted_apart(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues())
    trial = trials.try_graph(of_layer("layers.Embedding(1, 4)", (3,), dtype="int32", fill="ids", high=6))
    assert trial.built and [hit.cause.root.aspect for hit in trial.hits if hit.cause] == ["name"]
    assert (trials.tally.unrun, trials.tally.verdicts, trials.tally.worst) == (1, {}, {})


FAULTS = {
    "crash_on_outputs": Severity.CRASHES,
    "outputs_reversed": Severity.COMPUTES,
    "weights_copied": Severity.TRAINS,
    "layer_renamed": Severity.NAME,
}


@pytest.mark.parametrize("at_least", Severity)
def test_what_is_less_severe_is_left_out_and_counted_apart(at_least: Severity, keras: SubjectProcess) -> None:
    faults = {planted(fault): severity for fault, severity in FAULTS.items()}
    trials = GraphTrials(keras, KnownIssues(), cloners=(*faults, "fixed"), at_least=at_least)
    trial = trials.try_case(models.case("several", "keras"))
    hits = {hit.cloner: hit.cause.severity for hit in reversed(trial.hits) if hit.cause is not None}
    assert hits == {name: severity for name, severity in faults.items() if severity <= at_least}
    assert {name for name, verdict in trials.tally.verdicts if verdict == "left out"} == set(faults) - set(hits)
    assert trials.tally.verdicts["fixed", "faithful"] == 1


RAISES = """
def fault():
    raise TypeError("could not locate 'transform'")


def again(kind, text, cause=True):
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
RAISED = {
    "fault()": "TypeError in raises.py:fault",
    "again(TypeError, 'Exception encountered: {}')": "TypeError in raises.py:fault",
    "again(ValueError, 'no layer: {}')": "ValueError in raises.py:again",
    "from_config('Error when deserializing: {}')": "ValueError in raises.py:fault",
    "again(TypeError, 'no such layer')": "TypeError in raises.py:again",
    "again(TypeError, 'in a layer: {}', cause=False)": "TypeError in raises.py:again",
}
"""What a cloner does, and what went wrong first: the exception, and where it was raised."""


def test_an_exception_that_only_wraps_another_stands_back(keras: SubjectProcess, tmp_path: Path) -> None:
    functions = [f"\n\ndef clone_{number}(model):\n    {line}\n" for number, line in enumerate(RAISED)]
    (tmp_path / "raises.py").write_text(RAISES + "".join(functions))
    cloners = [f"{tmp_path}/raises:clone_{number}" for number in range(len(RAISED))]
    trials = GraphTrials(keras, KnownIssues(), cloners=cloners)
    hits = trials.try_case(models.case("compiled", "keras")).hits
    assert [hit.title for hit in hits] == [f"A model cannot be cloned: {raised}" for raised in RAISED.values()]


def test_a_request_that_cannot_be_answered_is_an_error(keras: SubjectProcess) -> None:
    trial = GraphTrials(keras, KnownIssues(), cloners=("nobody",)).try_or_say_why_not(of_layer("layers.ReLU()"))
    assert "unknown cloner 'nobody'" in trial.not_tried


ALIKE = """
import keras
from keras import layers


class OwnModel(keras.Model):
    def __init__(self, **options):
        x = keras.Input((4,), name="within")
        super().__init__(x, layers.Dense(4, name="dense")(x), **options)

    def get_config(self):
        return {"name": self.name}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


class Takes(layers.Layer):
    def call(self, x):
        return (x[0] if isinstance(x, (list, tuple)) else x) * 2.0

    def compute_output_shape(self, shape):
        return shape[0] if isinstance(shape, (list, tuple)) and isinstance(shape[0], (list, tuple)) else shape


def plain(name):
    x = keras.Input((4,), name="within")
    return keras.Model(x, layers.Dense(4, name="dense")(x), name=name)


def around(inner, given=lambda x: x):
    x = keras.Input((4,), name="x")
    return keras.Model(x, inner(given(x)), name="model")
"""
BREAKS = """
import clonediff


def freezes(model):
    clone = clonediff.clone_model(model)
    clone.layers[1].trainable = False
    return clone


def calls_plainly(model):
    return around(Takes(name="takes"))
"""


@pytest.mark.parametrize(
    ("sources", "cloner"),
    [
        (['around(plain("inner"))', 'around(OwnModel(name="inner"))'], "freezes"),
        (
            ['around(Takes(name="takes"), lambda x: [x])', 'around(Takes(name="takes"), lambda x: (x,))'],
            "calls_plainly",
        ),
    ],
    ids=["a plain model and a custom one", "a list and a tuple of one tensor"],
)
def test_what_is_lost_alike_has_one_name(
    sources: list[str], cloner: str, keras: SubjectProcess, tmp_path: Path
) -> None:
    (tmp_path / f"alike_{cloner}.py").write_text(ALIKE + BREAKS)
    names = []
    for model in sources:
        trials = GraphTrials(keras, KnownIssues(), cloners=(f"{tmp_path}/alike_{cloner}:{cloner}",))
        trial = trials.try_case(Case(f"{ALIKE}\nmodel = {model}\n", (INPUT,)))
        assert trial.built, trial.refused
        names.append([hit.fingerprint for hit in trial.hits])
    assert names[0] == names[1] != []


RAISES_IN_A_CLONE = """
import keras
from keras import layers


class Once(layers.Layer):
    made = []

    def call(self, x):
        if self not in Once.made and Once.made:
            raise TypeError("it was called")
        Once.made.append(self)
        return x[0] * 2.0

    def compute_output_spec(self, x):
        return self.call(x)


x = keras.Input((4,), name="x")
model = keras.Model(x, Once(name="once")([x]))
"""


def test_a_layer_that_raises_is_told_by_who_called_it_and_on_what(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues(), cloners=("upstream",))
    (hit,) = trials.try_case(Case(RAISES_IN_A_CLONE, (INPUT,))).hits
    assert hit.cause is not None
    assert hit.title == "A model cannot be cloned: TypeError in layer.py:symbolic_call"
    assert (hit.fingerprint, hit.cause.given) == (
        "made-raises-in-a-call-typeerror-6e90e7c3",
        ("a list of one tensor",),
    )
