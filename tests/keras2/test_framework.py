"""Keras 2.2 and 2.3 for real: built, called by one fetch, observed, and cloned as each release does it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import structs

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.subjects.observation import Answer
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import run
from clonediff.reports.known import load
from clonediff.strategies.graph import Call, CloneArguments, Graph, Input, Layer, Made, Preparation, Ref

RELEASES = (
    "keras==2.2.4",
    "keras==2.2.5",
    pytest.param("keras==2.3.1", marks=pytest.mark.slow(reason="one release more; what is tried is as in 2.2.5")),
)

FLOATS = {"shape": [4], "dtype": "float32", "fill": "normal"}
STEPS = {"shape": [3, 4], "dtype": "float32", "fill": "steps"}

HEAD = "import keras\nfrom keras import backend as K\nfrom keras import layers\n"
FORKED = """
inputs = keras.Input(shape=(4,))
a, b = layers.Lambda(lambda x: [x, x])(inputs)
model = keras.Model(inputs, layers.Add()([a, b]))
"""
MASKED = """
inputs = keras.Input(shape=(3, 4))
masked = layers.Masking(name="masking")(inputs)
outputs = layers.LSTM(2, return_sequences=True, name="lstm")(masked)
model = keras.Model(inputs, outputs)
"""
OWN_MASK = """
inputs = keras.Input(shape=(3, 4))
masked = layers.Lambda(lambda x: x + 1.0, mask=lambda x, mask=None: x[..., 0] > 0.0)(inputs)
model = keras.Model(inputs, layers.LSTM(2)(masked))
"""
DRAWING = """
inputs = keras.Input(shape=(4,))
dense = layers.Dense(3)(inputs)
dropped = layers.Dropout(0.5)(dense)
seeded = layers.Dropout(0.5, seed=7)(dense)
always = layers.Dropout(0.5)(dense, training=True)
model = keras.Model(inputs, [dropped, seeded, always])
"""
CALLED_BESIDE = """
inputs = keras.Input(shape=(4,))
inner_inputs = keras.Input(shape=(4,))
inner = keras.Model(inner_inputs, layers.Activation("relu")(inner_inputs))
outputs = layers.Activation("tanh", name="tanh")(inner(inputs))
inner(inputs)
model = keras.Model(inputs, outputs)
"""
CALLED_ON_ITS_INPUTS = """
inputs = keras.Input(shape=(4,))
inner = keras.Sequential([layers.InputLayer(input_shape=(4,)), layers.Activation("relu")], name="inner")
model = keras.Model(inputs, inner(inputs))
model(model.input)
"""
PENALIZED = """
inputs = keras.Input(shape=(4,))
outputs = inputs
for number in range(12):
    outputs = layers.Dense(3, kernel_regularizer=keras.regularizers.l2(0.1 + number / 7))(outputs)
model = keras.Model(inputs, outputs)
"""
TRAINED = """
inputs = keras.Input(shape=(4,))
normal = layers.BatchNormalization(name="normal")(layers.Dense(3, kernel_regularizer="l2")(inputs))
model = keras.Model(inputs, normal)
"""


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest, warm: Callable[[str], SubjectProcess]) -> SubjectProcess:
    return warm(request.param)


def _answer(release: SubjectProcess, body: str, given: dict[str, object], *checks: str) -> Answer:
    answer = release.trial(Case(HEAD + body, (given,), seed=5), cloners=["upstream"], checks=checks)
    assert isinstance(answer, Answer), answer
    assert answer.refused is None
    return answer


def _version(release: SubjectProcess) -> str:
    return release.ready.keras


def test_the_release_is_the_one_asked_for(release: SubjectProcess) -> None:
    assert release.ready.generation == "keras2"
    assert _version(release) == release.subject.version


def test_two_outputs_without_a_mask_are_lost_up_to_2_2_4(release: SubjectProcess) -> None:
    failure = _answer(release, FORKED, FLOATS).clones["upstream"].failure
    if _version(release) == "2.2.4":
        assert failure is not None
        assert failure.type == "AssertionError"
        assert failure.message.startswith("Could not compute output")
    else:
        assert failure is None


def test_steps_are_told_with_their_masks(release: SubjectProcess) -> None:
    answer = _answer(release, MASKED, STEPS)
    assert answer.original is not None
    names = [layer.name for layer in answer.original.shape.layers]
    steps = {names[step.layer]: step.outputs[0] for step in answer.original.inference.steps}
    assert list(steps) == ["masking", "lstm"]
    assert steps["masking"].mask is not None
    assert steps["masking"].mask == steps["lstm"].mask
    assert answer.original.inference.outputs == (steps["lstm"],)
    observed = answer.clones["upstream"].observation
    assert observed is not None
    assert observed.inference == answer.original.inference


def test_a_tensor_is_of_the_graph_where_a_later_call_beside_it_gives_the_same_one(release: SubjectProcess) -> None:
    answer = _answer(release, CALLED_BESIDE, FLOATS)
    observed = answer.clones["upstream"].observation
    assert answer.original is not None
    assert observed is not None
    for shape in (answer.original.shape, observed.shape):
        (tanh,) = [layer for layer in shape.layers if layer.name == "tanh"]
        (inner,) = [number for number, layer in enumerate(shape.layers) if layer.kind == "Model"]
        assert tanh.calls[0].args == [{"tensor": [inner, 0, 0]}]


def test_an_output_is_of_the_graph_where_a_later_call_of_the_model_itself_gives_the_same_one(
    release: SubjectProcess,
) -> None:
    answer = _answer(release, CALLED_ON_ITS_INPUTS, FLOATS)
    observed = answer.clones["upstream"].observation
    assert answer.original is not None
    assert observed is not None
    for shape in (answer.original.shape, observed.shape):
        (output,) = shape.outputs
        assert output.name == "inner"
        assert shape.layers[output.tensor[0]].name == "inner"


def test_the_loss_of_a_step_does_not_depend_on_the_order_in_which_a_set_has_the_losses(release: SubjectProcess) -> None:
    answer = _answer(release, PENALIZED, FLOATS, "training_step")
    observed = answer.clones["upstream"].observation
    assert answer.original is not None
    assert answer.original.trained is not None
    assert answer.original.trained.failure is None
    assert observed is not None
    assert observed.trained == answer.original.trained


def test_a_lambda_loses_its_mask_in_every_release(release: SubjectProcess) -> None:
    answer = _answer(release, OWN_MASK, STEPS)
    observed = answer.clones["upstream"].observation
    assert answer.original is not None
    assert observed is not None
    assert observed.inference.steps[0].outputs[0].digest == answer.original.inference.steps[0].outputs[0].digest
    assert observed.inference.steps[0].outputs[0].mask is None
    assert observed.inference.outputs != answer.original.inference.outputs


def test_dropout_draws_the_same_in_original_and_clone(release: SubjectProcess) -> None:
    answer = _answer(release, DRAWING, FLOATS, "again", "training_step")
    clone = answer.clones["upstream"]
    assert answer.original is not None
    assert clone.observation is not None
    assert clone.observation.inference == answer.original.inference
    assert clone.observation.training == answer.original.training
    assert clone.observation.trained == answer.original.trained
    assert clone.inference_after is None
    plain, _, always = answer.original.inference.outputs
    assert plain != always
    assert len({output.digest for output in answer.original.training.outputs}) > 1


def test_a_step_of_training_moves_weights_and_averages(release: SubjectProcess) -> None:
    answer = _answer(release, TRAINED, FLOATS, "training_step")
    assert answer.original is not None
    original = answer.original
    assert original.trained is not None
    assert original.trained.failure is None
    names = [weight.name for weight in original.shape.weights]
    assert {"kernel", "gamma", "moving_mean"} <= set(names)
    moved = [
        after.digest != before for after, before in zip(original.trained.weights, original.copied_weights, strict=True)
    ]
    assert all(moved[place] for place, name in enumerate(names) if name in ("kernel", "gamma", "moving_mean"))
    observed = answer.clones["upstream"].observation
    assert observed is not None
    assert observed.trained == original.trained


def test_a_clone_begins_with_weights_of_its_own(release: SubjectProcess) -> None:
    observed = _answer(release, TRAINED, FLOATS).clones["upstream"].observation
    assert observed is not None
    assert all(observed.fresh)


def test_a_model_is_saved_and_loaded(release: SubjectProcess) -> None:
    answer = _answer(release, MASKED, STEPS, "saving")
    assert answer.original is not None
    saved = answer.original.saved
    assert saved is not None
    assert saved.loading is None
    assert saved.run is not None
    assert saved.run.outputs == answer.original.inference.outputs


def test_a_cloner_that_touched_its_model_costs_the_next_one_nothing(release: SubjectProcess) -> None:
    dense = Layer("Dense", (("units", 2),))
    graph = Graph((Input((3,)),), (dense,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras2")
    trials = GraphTrials(release, load())
    trial = trials.try_graph(structs.replace(graph, clone_arguments=CloneArguments(inputs="own")), costly=True)
    assert trial.clones["fixed"].verdict is Verdict.FAITHFUL


def test_what_was_loaded_before_its_model_was_built_again_is_loaded_anew(release: SubjectProcess) -> None:
    cloners = ("planted/original_frozen", "fixed")  # after the first the model is built again
    trial = run(Case(HEAD + TRAINED, (FLOATS,), seed=5), release, cloners, ("again", "saving", "reloading"))
    assert trial.built, (trial.refused, trial.lost)
    assert [trial.clones[name].verdict is Verdict.FAITHFUL for name in cloners] == [False, True]
    assert trial.clones["fixed"].differences == ()


@pytest.mark.parametrize(
    ("layer", "said"), [(Layer("Dense", (("units", 1),)), (("built", True),)), (Layer("ThresholdedReLU"), ())]
)
def test_a_layer_hung_on_a_model_of_another_session_keeps_its_floats(
    release: SubjectProcess, layer: Layer, said: tuple[tuple[str, bool], ...]
) -> None:
    hung = Preparation("hang", None, (("layer", Made(layer)), *said))
    before = (hung, Preparation("built session", None, (("floatx", "float64"),)))
    graph = Graph((Input((1,)),), (), (), Ref(0), Ref(0), generation="keras2", preparations=before)
    assert GraphTrials(release, load()).try_graph(graph).clones["fixed"].verdict is Verdict.FAITHFUL


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a model"])
def test_weights_of_ones_own_layer_have_the_floats_that_it_is_called_on(release: SubjectProcess, inside: bool) -> None:
    graph = Graph((Input((1,)),), (Layer("Scale"),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
    if inside:
        graph = structs.replace(graph, layers=(Layer("Model", graph=graph),))
    session = (Preparation("session", None, (("floatx", "float64"),)),)
    graph = structs.replace(graph, generation="keras2", preparations=session)
    assert GraphTrials(release, load()).try_graph(graph).clones["fixed"].verdict is Verdict.FAITHFUL
