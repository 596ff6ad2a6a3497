"""Releases of Keras 3 as subjects: what they offer is what is drawn, and the fixed cloner holds on all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from clonediff.harness.search.sampling import sample_graphs
from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.releases import in_full
from clonediff.harness.trials.drawable_kinds import graphs_on
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import run
from clonediff.reports.known import KnownIssues
from clonediff.strategies import Graph
from clonediff.strategies.graph import (
    Call,
    CallFunction,
    CloneArguments,
    Form,
    Input,
    Items,
    Layer,
    Made,
    Preparation,
    Ref,
    Seq,
)
from tests.required_releases import had

OLDEST, MIDDLE = "3.0.5", "3.10.0"
REFUSED_BY = {
    OLDEST: {
        "optional inputs",
        "inputs around tensors",
        "nested ends",
        "policy maps",
        "later inputs",
        "shapes of models",
        "call functions",
        "recursive cloning",
        "lora",
        "quantize",
        "SavedModel",
        "copies of models",
        "remat",
        "clone remat",
        "ragged inputs",
        "tensors that keep their dtype",
    },
    MIDDLE: {"idle inputs", "quantize", "SavedModel"},
}

Process = Callable[[str], SubjectProcess]

TWO = (Input((3, 4), fill="steps"), Input((3, 4)))
ADDED = (Call(0, (Seq((Ref(0), Ref(1))),)),)
REFUSALS = {
    "optional inputs": Graph((Input((4,), optional=True),), (Layer("ReLU"),), (Call(0, (Ref(0),)),), Ref(0), Ref(1)),
    "nested ends": Graph(TWO, (Layer("Add"),), ADDED, Seq((Ref(0), Seq((Ref(1),), "tuple"))), Ref(2)),
    "idle inputs": Graph(
        TWO, (Layer("ReLU"),), (Call(0, (Ref(0),)),), Seq((Ref(0), Ref(1))), Items((("a", Ref(2)), ("b", Ref(1))))
    ),
}


@pytest.mark.parametrize("version", REFUSED_BY)
def test_a_release_says_what_it_cannot_build(keras3: Process, version: str) -> None:
    capabilities = keras3(version).ready.capabilities
    assert set(capabilities.missing) == {*REFUSED_BY[version], "multi_gpu_model", "add_loss", "add_metric", "engine"}
    assert {"Dense", "Lambda", "Bidirectional"} < set(capabilities.layers)


@pytest.mark.parametrize("version", REFUSED_BY)
@pytest.mark.parametrize("feature", REFUSALS)
def test_it_builds_what_it_says_and_nothing_else(keras3: Process, version: str, feature: str) -> None:
    trials = GraphTrials(keras3(version), KnownIssues(), cloners=("fixed",))
    assert trials.try_graph(REFUSALS[feature]).hits == ()
    assert trials.tally.refused == (feature in REFUSED_BY[version])


@pytest.mark.parametrize(
    "version", [OLDEST, pytest.param(MIDDLE, marks=pytest.mark.slow(reason="the oldest lacks more of what is drawn"))]
)
def test_what_is_drawn_for_a_release_it_can_build_and_fixed_can_clone(keras3: Process, version: str) -> None:
    process = keras3(version)
    trials = GraphTrials(process, KnownIssues(), cloners=("fixed",))
    for graph in sample_graphs(graphs_on(process, min_instructions=2), 15, 3):
        assert trials.try_graph(graph).hits == ()
    assert trials.tally.refused == 0


FLOATS = Input((4,))


def through(
    *layers: Layer, given: Input = FLOATS, after: tuple[int, ...] = (), gives: Any = None, **more: Any
) -> Graph:
    """A graph of one input through these layers, each called on the node before it, or on the one that `after` says."""
    before = after or range(len(layers))
    calls = tuple(Call(place, (Ref(node),)) for place, node in enumerate(before))
    return Graph((given,), layers, calls, Ref(0), gives or Ref(len(layers)), generation="keras", **more)


RELU, DOUBLE = Layer("ReLU"), CloneArguments(inputs="double")
BOTH_WAYS = Layer("Bidirectional", (("layer", Made(Layer("LSTM", (("units", 2),)))),))
WITH_METRICS = Preparation("compile", args=(("metrics", Seq(("mae",))),))
OF_OLD = {
    "the layer that a Bidirectional was given": through(BOTH_WAYS, given=Input((3, 4))),
    "an input whose dtype a layer has changed": through(Layer("PReLU"), given=Input((4,), "float64")),
    "a regularizer that no config tells": through(Layer("RepeatVector", (("n", 2), ("activity_regularizer", "l2")))),
    "a regularizer of one's own that no config tells": through(
        Layer("RepeatVector", (("n", 2), ("activity_regularizer", Form("regularizer", "keeps a list"))))
    ),
    "metrics that are made when a model is compiled": through(RELU, preparations=(WITH_METRICS,)),
    # No dtype that a layer wrote into a tensor is asked for on other inputs.
    "a dtype written by a layer that the model leaves out": through(RELU, gives=Ref(0), clone_arguments=DOUBLE),
    "a dtype written by the last of two layers": through(
        Layer("MaxPooling2D"),
        Layer("ReLU", dtype="mixed_bfloat16"),
        RELU,
        given=Input((4, 4, 1)),
        after=(0, 1, 1),
        gives=Seq((Ref(1), Ref(2), Ref(3))),
        clone_arguments=CloneArguments(inputs="fresh"),
    ),
}


@pytest.mark.parametrize("what", OF_OLD)
def test_fixed_takes_over_what_an_old_release_has(keras3: Process, what: str) -> None:
    _nothing_is_told(keras3(OLDEST), OF_OLD[what])


CASTS = {
    "more of them": through(RELU, Layer("ReLU", dtype="float64"), clone_arguments=DOUBLE),
    "as many": Graph(
        (Input((4,), "float64"),),
        (RELU,),
        (Call(0, (Ref(0),)), Call(0, (Ref(0),))),
        Ref(0),
        Seq((Ref(1), Ref(2))),
        generation="keras",
        clone_arguments=CloneArguments(call_function=CallFunction()),
    ),
    "of two layers": Graph(
        (Input((4,)),),
        (RELU, RELU, Layer("Add")),
        (Call(0, (Ref(0),)), Call(1, (Ref(0),)), Call(2, (Seq((Ref(2), Ref(1))),))),
        Ref(0),
        Ref(3),
        generation="keras",
        clone_arguments=DOUBLE,
    ),
}
"""They are numbered as the calls were written down, of which the model knows nothing."""
WITH_CASTS = "3.8.0"
"""A release in which what a layer casts is part of the graph."""


@pytest.mark.slow(reason="one more release, for one thing that the others do not have")
@pytest.mark.parametrize("what", CASTS)
def test_casts_are_numbered_as_in_a_model_on_those_inputs(keras3: Process, what: str) -> None:
    _nothing_is_told(keras3(WITH_CASTS), CASTS[what])


def called(*calls: Call, **more: Any) -> Graph:
    """Steps with a mask, and layers that take what a call gives them beside its tensor."""
    layers = (Layer("Masking"), Layer("CenterCrop", (("height", 5), ("width", 3))), Layer("LSTM", (("units", 2),)))
    given = Input((4, 4, 1)) if calls[0].layer == 1 else Input((3, 4), fill="steps")
    order = sorted({each.layer for each in calls})
    calls = tuple(structs.replace(each, layer=order.index(each.layer)) for each in calls)
    arguments = CloneArguments(**more)
    chosen = tuple(layers[each] for each in order)
    return Graph((given,), chosen, calls, Ref(0), Ref(len(calls)), generation="keras", clone_arguments=arguments)


PLAIN, MASKED = CallFunction(), Call(0, (Ref(0),))
CALLED = {
    "training on other inputs": called(Call(1, (Ref(0),), (("training", True),)), inputs="fresh"),
    "training with a call function": called(Call(1, (Ref(0),), (("training", True),)), call_function=PLAIN),
    "no mask with a call function": called(Call(2, (Ref(0),), (("mask", None),)), call_function=PLAIN),
    "a mask of Keras' own with a call function": called(MASKED, Call(2, (Ref(1),)), call_function=PLAIN),
}


@pytest.mark.parametrize("what", CALLED)
@pytest.mark.parametrize(
    "subject",
    [
        "keras",
        pytest.param(
            "keras-nightly", marks=pytest.mark.slow(reason="a release more, which another day may need a mend of fixed")
        ),
    ],
)
def test_a_call_is_made_as_it_was_given(warm: Process, subject: str, what: str) -> None:
    _nothing_is_told(warm(had(lambda: in_full(subject))), CALLED[what])


def _nothing_is_told(process: SubjectProcess, graph: Graph) -> None:
    trials = GraphTrials(process, KnownIssues(), cloners=("fixed",))
    assert trials.try_graph(graph).hits == ()
    assert trials.tally.refused == 0


HEAD = "import keras\nfrom keras import layers\n"
SOME_MASKED = """
inputs = keras.Input(shape=(3, 2))
masking = layers.Masking()(inputs)
one, two = keras.Input(shape=(3, 2)), keras.Input(shape=(3, 2))
inner_model = keras.Model([one, two], layers.Activation("relu")(two))
model = keras.Model(inputs, [inner_model([inputs, masking]), layers.SimpleRNN(1)(masking)])
"""


def test_a_model_called_on_tensors_of_which_some_have_a_mask(keras3: Callable[[str], SubjectProcess]) -> None:
    case = Case(HEAD + SOME_MASKED, ({"shape": [3, 2], "dtype": "float32"},))
    trial = run(case, keras3(OLDEST), ("upstream", "fixed"))
    assert trial.built
    assert trial.clones["upstream"].verdict is Verdict.CRASHED
    assert trial.clones["fixed"].verdict is Verdict.FAITHFUL


PIPELINE = """
inputs = keras.Input(shape=(4, 4, 2))
model = keras.Model(inputs, layers.Pipeline(layers=[layers.Rescaling(2.0), layers.Dense(1)])(inputs))
"""
BY_KEYWORD = """
inputs = keras.Input(shape=(3, 2))
one, two = keras.Input(shape=(3, 2)), keras.Input(shape=(3, 2))
inner_model = keras.Model([one, two], layers.Activation("relu")(two))
model = keras.Model(inputs, inner_model(inputs=[inputs, layers.Masking()(inputs)]))
"""


AUG_MIX = """
inputs = keras.Input(shape=(4, 4, 3))
model = keras.Model(inputs, layers.AugMix(num_chains=2, seed=3)(inputs))
"""


OWN_WITH_OPTION = """
class OwnModel(keras.Model):
    def __init__(self, inputs, outputs, name=None, *, factor=1.0, **kwargs):
        super().__init__(inputs, outputs, name=name, **kwargs)
        self.factor = factor

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


inputs = keras.Input(shape=(3,))
x = layers.Dense(2)(inputs)
model = OwnModel(inputs, [x, x], factor=2.0)
"""


def test_a_model_of_an_own_class_whose_layers_are_in_a_list_of_tensorflow(keras3: Process) -> None:
    trial = run(
        Case(HEAD + OWN_WITH_OPTION, ({"shape": [3], "dtype": "float32"},)), keras3(MIDDLE), ("fixed",), costly=True
    )
    assert trial.built
    assert trial.clones["fixed"].verdict is Verdict.FAITHFUL


CAST = """
inputs = keras.Input(shape=(3, 4))
inner_model = keras.Sequential([keras.Input(shape=(3, 4), dtype="float64"), layers.Dense(4)])
model = keras.Model(inputs, inner_model(inputs))
keras.config.set_dtype_policy("mixed_bfloat16")
"""


@pytest.mark.slow(reason="two releases more to install and start, for one line of the fixed cloner each")
@pytest.mark.parametrize(
    ("version", "source", "shape", "becomes"),
    [
        ("3.6.0", PIPELINE, [4, 4, 2], Verdict.CRASHED),
        ("3.6.0", CAST, [3, 4], Verdict.DIVERGED),
        ("3.3.3", BY_KEYWORD, [3, 2], Verdict.CRASHED),
        ("3.8.0", OWN_WITH_OPTION, [3], Verdict.DIVERGED),
        ("3.10.0", AUG_MIX, [4, 4, 3], Verdict.DIVERGED),
    ],
)
def test_what_one_release_alone_cannot_clone(
    keras3: Process, version: str, source: str, shape: list[int], becomes: Verdict
) -> None:
    trial = run(Case(HEAD + source, ({"shape": shape, "dtype": "float32"},)), keras3(version), ("upstream", "fixed"))
    assert trial.built
    assert trial.clones["upstream"].verdict is becomes
    assert trial.clones["fixed"].verdict is Verdict.FAITHFUL
