"""Releases of tf_keras, and of the tf.keras before it: built, observed, and cloned by upstream and by fixed."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from msgspec import structs

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.drawable_kinds import graphs_on
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import run
from clonediff.reports.corpus import load as load_corpus
from clonediff.reports.corpus import shows
from clonediff.reports.known import load
from clonediff.strategies.graph import Call, CloneArguments, CloneFunction, Graph, Input, Layer, Preparation, Ref, Seq
from tests.example_counts import examples
from tests.tf_keras_releases.trying import FLOATS, HEAD, IMAGES, STEPS, WORDS, before, trial_of, upstream_aspects

KNOWN, CORPUS = load(), load_corpus()
KEPT = CloneFunction("set", "ReLU", "trainable", False, "kept")
"""A clone function that gives all layers but one kind as they are."""

# keras-team/keras#14838: mended in TensorFlow 2.7.
CALLS_OUT_OF_ORDER = """
inputs = keras.Input(shape=(4,))
shared = layers.Activation("tanh", name="shared")
late = shared(layers.Dense(4)(inputs))
early = layers.ReLU()(shared(inputs))
model = keras.Model(inputs, [early, late])
"""
# keras-team/keras#17466: mended in TensorFlow 2.12.
FROZEN = """
inputs = keras.Input(shape=(3, 4))
both = layers.Bidirectional(layers.SimpleRNN(2))
both.trainable = False
model = keras.Model(inputs, both(inputs))
"""
TWO_OUTPUTS = """
inputs = keras.Input(shape=(4,))
a, b = layers.Lambda(lambda x: [x, x * 2.0])(inputs)
model = keras.Model(inputs, layers.Add()([a, b]))
"""
MASKED = """
inputs = keras.Input(shape=(3, 4))
masked = layers.Lambda(lambda x: x + 1.0, mask=lambda x, mask=None: x[..., 0] > 0.0)(layers.Masking()(inputs))
model = keras.Model(inputs, layers.LSTM(2, dropout=0.5)(masked))
"""
ADDED = """
import tensorflow as tf
inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4)(inputs))
model.add_metric(tf.reduce_mean(model.outputs[0]), name="mean")
model.add_loss(tf.reduce_mean(model.outputs[0]))
"""
# Each is a model of its own on the releases whose symbolic tensors are TensorFlow's own, before 2.4.
SHAPE_TOLD = """
import tensorflow as tf
inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, tf.tensordot(inputs, np.ones((4, 3), "float32"), axes=1))
"""
GRADIENT_FAILS = """
import tensorflow as tf
inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, tf.math.atan2(layers.Dense(4)(inputs), 2.0))
"""
STATEFUL = """
inputs = keras.Input(shape=(3, 4), batch_size=2)
model = keras.Model(inputs, layers.SimpleRNN(2, stateful=True)(inputs))
"""
SPARSE = """
inputs = keras.Input(shape=(4,), sparse=True)
model = keras.Model(inputs, layers.Dense(2)(inputs))
"""
TWICE_IN_A_SEQUENTIAL = """
twice = layers.LeakyReLU()
model = keras.Sequential([twice, layers.Dense(4), twice, layers.Dense(2)])
model.build((None, 4))
"""
BUILT_LATE = """
model = keras.Sequential([layers.ReLU(), layers.RepeatVector(2), layers.Masking()])
model.build((None, 4))
"""
INVERTED = """
inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Normalization(axis=None, mean=0.5, variance=2.0, invert=True)(inputs))
"""

DRAWS = """
inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dropout(0.5)(layers.Dense(4)(inputs)))
"""

TRAINED = """
inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.BatchNormalization()(layers.Dense(4)(inputs)))
model.compile(optimizer="sgd", loss="mse", run_eagerly=True)
model.train_on_batch(np.ones((2, 4)), np.ones((2, 4)))
"""

OF_LAYERS = """
inputs = keras.Input(shape=(3, 4))
lstm = layers.LSTM(2, activation=layers.ELU(), return_sequences=True)(inputs)
gru = layers.GRU(2, recurrent_activation=layers.ThresholdedReLU(0.25), return_sequences=True)(lstm)
model = keras.Model(inputs, layers.SimpleRNN(2, activation=layers.PReLU())(gru))
"""

HUNG_ON = """
inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4)(inputs))
model.head, model.others = layers.Dense(3), [layers.LSTM(2), layers.TimeDistributed(layers.Dense(2))]
model.head.build((None, 5))
for other in model.others:
    other.build((None, 3, 4))
"""

IN_A_SCOPE = """
import tensorflow as tf
with tf.name_scope("outer"):
    inputs = keras.Input(shape=(4, 4, 2))
    model = keras.Model(inputs, layers.Conv2D(2, 2)(layers.RandomCrop(3, 3)(inputs)))
"""
WEIGHTS_OF_WORDS = """
import tensorflow as tf
with tf.name_scope("outer"):
    words = keras.Input(shape=(1,), dtype="int64")
    weighed = layers.IntegerLookup(vocabulary=[1, 2], idf_weights=[1.0, 2.0], output_mode="tf_idf")(words)
    model = keras.Model(words, weighed)
"""
OF_WORDS = """
inputs = keras.Input(shape=(1,), dtype="string")
model = keras.Model(inputs, layers.TextVectorization(vocabulary=["red", "green", "a"])(inputs))
"""
OF_UNKNOWN_RANK = """
inputs = keras.Input(shape=(4,))
others = keras.Input(shape=(4,))
model = keras.Model([inputs, others], [inputs == others, layers.ReLU()(inputs)])
"""
AROUND = """
inputs = keras.Input(tensor=keras.Input(shape=(4,), name="features"))
model = keras.Model(inputs, layers.Dense(4)(inputs))
"""
OF_THE_LEARNING_PHASE = """
inputs = keras.Input(shape=(4, 4, 2))
moved = layers.RandomTranslation(0.5, 0.5, seed=7)(inputs)
model = keras.Model(inputs, layers.GaussianNoise(0.5)(moved))
"""
DRAWN_FROM = """
inputs = keras.Input(shape=(4, 4, 2))
model = keras.Model(inputs, layers.RandomHeight(0.5, seed=7)(inputs))
model(np.ones((2, 4, 4, 2), "float32"), training=True)
"""
DRAWS_FROM_ANYWHERE = """
inputs = keras.Input(shape=(4, 4, 2))
model = keras.Model(inputs, layers.RandomWidth(0.5, interpolation="nearest")(inputs, training=True))
"""
OF_NUMPY = """
class Draws(layers.Layer):
    def __init__(self, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.seed, self._rng = seed, np.random.default_rng(seed)

    def call(self, x):
        return x * 2.0

    def get_config(self):
        return dict(super().get_config(), seed=self.seed)


inputs = keras.Input(shape=(4,))
with keras.utils.custom_object_scope({"Draws": Draws}):
    model = keras.Model(inputs, Draws(7)(inputs))
"""


def test_the_child_is_the_release(release: SubjectProcess) -> None:
    assert release.ready.generation == "tf_keras"
    assert release.subject.version == release.ready.keras


def test_outputs_swapped_by_the_order_of_calls_are_of_their_day(release: SubjectProcess) -> None:
    aspects = upstream_aspects(trial_of(release, CALLS_OUT_OF_ORDER, FLOATS))
    assert ("call order" in aspects) == before(release, "2.7")


def test_a_thawed_wrapper_is_of_its_day(release: SubjectProcess) -> None:
    trial = trial_of(release, FROZEN, STEPS)
    thawed = {
        difference.first.kind
        for difference in trial.clones["upstream"].differences
        if difference.check == "structure" and difference.aspect == "trainable" and difference.first is not None
    }
    # In 2.0 only what is inside is thawed.
    assert ("Bidirectional" in thawed) == (before(release, "2.12") and not before(release, "2.1"))


def test_given_inputs_that_are_ignored_are_of_their_day(release: SubjectProcess) -> None:
    bug = CORPUS["tf-given-ignored"]
    trial = run(case_of(CORPUS.graph(bug), release.subject.dialect), release, ("upstream", "fixed"))
    assert trial.clones["fixed"].verdict is Verdict.FAITHFUL
    assert shows(bug, trial.clones["upstream"].causes) == before(release, "2.7")


def test_given_inputs_are_ignored_where_a_clone_function_gives_the_layers_themselves(release: SubjectProcess) -> None:
    graph = CORPUS.graph(CORPUS["tf-given-ignored"])
    trial = run(
        case_of(structs.replace(graph, clone_arguments=CloneArguments("batch", KEPT)), release.subject.dialect),
        release,
        ("upstream", "fixed"),
    )
    assert trial.clones["fixed"].verdict is Verdict.FAITHFUL
    ignored = [KNOWN["tf-given-ignored"]] if before(release, "2.7") else []
    assert [KNOWN.on("tf_keras").of(cause) for cause in trial.clones["upstream"].causes] == ignored


@pytest.mark.parametrize(
    ("body", "given"), [(TWO_OUTPUTS, FLOATS), (MASKED, STEPS)], ids=["two outputs", "a mask function and dropout"]
)
def test_what_never_broke_holds_under_all_checks(release: SubjectProcess, body: str, given: dict[str, object]) -> None:
    trial = trial_of(release, body, given, "again", "training_step", "saving")
    assert trial.original is not None
    assert trial.original.trained is not None
    assert trial.original.trained.failure is None
    saved = trial.original.saved
    assert saved is not None
    assert saved.saving is None, saved.saving
    assert saved.loading is None, saved.loading
    # The cell of an LSTM has no name of its own before 2.13.
    assert {difference.aspect for difference in trial.clones["upstream"].differences} <= {"name", "weight scope"}


def test_a_clone_begins_with_weights_of_its_own_where_layers_draw_from_the_backend(release: SubjectProcess) -> None:
    # The second original is built where the first run has left the backend's random numbers.
    for _ in range(2):
        trial_of(release, DRAWS, FLOATS)


CLONED = {
    "a loss and a metric that are added": (ADDED, FLOATS),
    "a shape that only the function told": (SHAPE_TOLD, FLOATS),
    "a call that only fails where recorded": (GRADIENT_FAILS, FLOATS, "again", "training_step"),
    "a state that lasts": (STATEFUL, dict(STEPS, batch=2)),
    "a sparse input": (SPARSE, FLOATS),
    "a Sequential that upstream does not build": (BUILT_LATE, FLOATS),
    "a layer twice in a Sequential": (TWICE_IN_A_SEQUENTIAL, FLOATS),
    "an input around a tensor": (AROUND, FLOATS),
    "names of a scope": (IN_A_SCOPE, IMAGES),
    "a name of a scope for a weight of unknown size": (WEIGHTS_OF_WORDS, WORDS),
    "a cell whose activation is a layer": (OF_LAYERS, STEPS),
    "layers that are hung on a model": (HUNG_ON, FLOATS),
    "draws after a later layer has set the learning phase": (OF_THE_LEARNING_PHASE, IMAGES),
    "draws of a layer that has given numbers before": (DRAWN_FROM, IMAGES),
    "draws without a seed, in a loaded model": (DRAWS_FROM_ANYWHERE, IMAGES, "saving"),
    "draws of a layer of one's own": (OF_NUMPY, FLOATS),
}


@pytest.mark.parametrize("name", CLONED)
def test_fixed_clones(release: SubjectProcess, name: str) -> None:
    body, given, *checks = CLONED[name]
    _skip_without(release, body)
    trial_of(release, f"import numpy as np\n{body}", given, *checks)


def _skip_without(release: SubjectProcess, body: str) -> None:
    """Where the release has not what a model is made of."""
    capabilities = release.ready.capabilities
    made_of = set(re.findall(r"layers\.(\w+)\(", body)) - {"Input"}
    if made_of - set(capabilities.layers):
        pytest.skip(reason=f"the release has no {', '.join(made_of - set(capabilities.layers))}")
    if body is SPARSE and "sparse inputs" in capabilities.missing:
        pytest.skip(reason="the release cannot tell how many columns a sparse input has")
    if body is ADDED and before(release, "2.3"):
        pytest.skip(reason="before 2.3 no metric is added of a tensor")
    if body is WEIGHTS_OF_WORDS and "idf_weights" not in [
        each.name for each in capabilities.layers["IntegerLookup"].constructor or ()
    ]:
        pytest.skip(reason="the release takes no weights of words")


@pytest.mark.parametrize(
    ("layer", "clone_arguments"),
    [
        # Before 2.4 a model knows a function by the operations that it made, which a known batch leaves fewer of.
        pytest.param(Layer("tf.image.rgb_to_grayscale"), CloneArguments("batch"), id="other operations"),
        pytest.param(Layer("operator.half"), CloneArguments("half"), id="operations of another dtype"),
        pytest.param(Layer("operator.half"), CloneArguments("half", KEPT), id="operations of another dtype, kept"),
        pytest.param(
            Layer("tf.one_hot", (("depth", 6),)), CloneArguments("double"), id="a constant of a dtype of its own"
        ),
    ],
)
def test_an_operation_is_cloned_on_other_inputs(
    release: SubjectProcess, layer: Layer, clone_arguments: CloneArguments
) -> None:
    of_ids = layer.kind == "tf.one_hot"
    given = Input((3,), "int32", fill="ids", high=6) if of_ids else Input((4, 4, 3))
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    graph = Graph(
        (given,), (layer, Layer("ReLU")), calls, Ref(0), Ref(2), generation="tf_keras", clone_arguments=clone_arguments
    )
    trial = run(case_of(graph, release.subject.dialect), release, ("fixed",))
    assert trial.refused is None, trial.refused
    assert trial.clones["fixed"].verdict is Verdict.FAITHFUL, trial.clones["fixed"].differences


def test_an_inverted_normalization_stays_one(release: SubjectProcess) -> None:
    found = release.ready.capabilities.layers.get("Normalization")
    if found is None or "invert" not in [each.name for each in found.constructor or ()]:
        pytest.skip(reason="the release cannot invert one")
    trial = trial_of(release, INVERTED, FLOATS)
    lost = "attribute.invert" in {difference.aspect for difference in trial.clones["upstream"].differences}
    assert lost == (release.subject.version == "2.11.1")


def test_a_vocabulary_is_kept(release: SubjectProcess) -> None:
    if "TextVectorization" not in release.ready.capabilities.layers:
        pytest.skip(reason="the release has no layers for texts")
    trial = trial_of(release, OF_WORDS, {"shape": [1], "dtype": "string", "fill": "words"})
    assert ("raises" in upstream_aspects(trial)) == (release.subject.version == "2.6.5")


def test_a_tensor_of_unknown_rank_is_an_output_like_others(release: SubjectProcess) -> None:
    case = Case(HEAD[release.subject.dialect] + OF_UNKNOWN_RANK, (FLOATS, FLOATS), seed=5)
    trial = run(case, release, ("upstream", "fixed"))
    assert trial.refused is None, trial.refused
    assert trial.clones["fixed"].verdict is Verdict.FAITHFUL, trial.clones["fixed"].differences
    assert trial.original is not None
    known = not (before(release, "2.3") and not before(release, "2.1"))
    assert (trial.original.shape.outputs[0].shape is not None) == known


def test_what_a_recurrent_layer_carries_over_is_compared(release: SubjectProcess) -> None:
    graph = Graph(
        (Input((3, 4)),),
        (Layer("LSTM", (("units", 2),)),),
        (Call(0, (Ref(0),)),),
        Ref(0),
        Ref(1),
        generation="tf_keras",
        preparations=(Preparation("stateful", "LSTM"),),
    )
    copied = "planted/prepared_states_copied"
    clones = run(case_of(graph, release.subject.dialect), release, ("fixed", copied)).clones
    assert clones["fixed"].verdict is Verdict.FAITHFUL, clones["fixed"].differences
    assert {each.aspect for each in clones[copied].differences} == {"state not fresh"}


def test_a_clone_function_is_asked_for_layers_in_the_order_of_the_model(release: SubjectProcess) -> None:
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(0),)))
    lstm = Layer("LSTM", (("units", 1),))
    graph = Graph(
        (Input((3, 4)),),
        (lstm, lstm),
        calls,
        Ref(0),
        Seq((Ref(2), Ref(1))),
        generation="tf_keras",
        clone_arguments=CloneArguments("", CloneFunction()),
    )
    trial = run(case_of(graph, release.subject.dialect), release, ("fixed",))
    assert trial.clones["fixed"].verdict is Verdict.FAITHFUL, trial.clones["fixed"].differences


def test_a_model_that_was_trained_is_cloned(release: SubjectProcess) -> None:
    case = Case(f"import numpy as np\n{HEAD[release.subject.dialect]}{TRAINED}", (FLOATS,), seed=5, ran=True)
    clone = run(structs.replace(case, promises="not compiled"), release, ("fixed",)).clones["fixed"]
    assert (clone.verdict, clone.differences) == (Verdict.FAITHFUL, ())


def test_fixed_holds_on_whatever_the_release_builds(release: SubjectProcess) -> None:
    trials = GraphTrials(release, KNOWN, rate=4)
    broken: list[str] = []

    def look(graph: Graph) -> None:
        broken.extend(
            f"{each.title}\n{each.case.source}" for each in trials.try_graph(graph).hits if each.cloner == "fixed"
        )

    seed(3)(
        settings(
            max_examples=examples(6, 16),
            database=None,
            deadline=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )(given(graphs_on(release))(look))
    )()
    assert broken == []
    assert trials.tally.trials >= examples(6, 16)
    # Before 2.4 a recurrent layer cannot use an initializer that is given as a class.
    assert trials.tally.refused <= (1 if before(release, "2.4") else 0)
