"""What layers draw from on the releases, and what goes by the learning phase of the process, as those do."""

from __future__ import annotations

import pytest

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import run
from clonediff.strategies.graph import Call, Graph, Input, Layer, Ref
from tests.tf_keras_releases.trying import FLOATS, HEAD, IMAGES, trial_of

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
# What the second model makes of a learning phase, the first one has not met: the noise sets it for the process.
OF_NOTHING = """
first, second = keras.Input(shape=(4,)), keras.Input(shape=(4, 4, 2))
inner = keras.Model([first, second], layers.RandomContrast(0.5)(second, training=None))
inputs = [keras.Input(shape=(4,)), keras.Input(shape=(4, 4, 2))]
called = inner(inputs)
model = keras.Model(inputs, [called, layers.GaussianNoise(0.5)(inputs[0])])
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


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(OF_THE_LEARNING_PHASE, id="which a later layer has set the learning phase for"),
        pytest.param(DRAWN_FROM, id="that has given numbers before"),
    ],
)
def test_what_a_layer_draws_from_is_where_it_was(release: SubjectProcess, body: str) -> None:
    if "RandomHeight" not in release.ready.capabilities.layers:
        pytest.skip(reason="the release has no layers for images")
    trial_of(release, f"import numpy as np\n{body}", IMAGES)


def test_what_a_layer_draws_from_does_not_go_by_what_the_process_didbefore(release: SubjectProcess) -> None:
    if "RandomTranslation" not in release.ready.capabilities.layers:
        pytest.skip(reason="the release has no layers for images")
    args = (("height_factor", 0.5), ("width_factor", 0.5), ("seed", 7))
    layers = (Layer("RandomTranslation", args), Layer("Dropout", (("rate", 0.5),)))
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    graph = Graph(
        (Input((4, 4, 2)),), layers, calls, Ref(0), Ref(2), sequential=True, generation="tf_keras", built="not yet"
    )
    trial = run(case_of(graph, release.subject.dialect), release, ("fixed",))
    assert trial.refused is None, trial.refused
    assert trial.clones["fixed"].verdict is Verdict.FAITHFUL, trial.clones["fixed"].differences


def test_a_mask_of_nothing_is_none(release: SubjectProcess) -> None:
    if "RandomContrast" not in release.ready.capabilities.layers:
        pytest.skip(reason="the release has no layers for images")
    case = Case(HEAD[release.subject.dialect] + OF_NOTHING, (FLOATS, IMAGES), seed=5)
    trial = run(case, release, ("upstream", "fixed"))
    assert trial.refused is None, trial.refused
    assert [clone.differences for clone in trial.clones.values()] == [(), ()]


def test_what_a_layer_without_a_seed_draws_is_the_same_in_a_loaded_model(release: SubjectProcess) -> None:
    if "RandomWidth" not in release.ready.capabilities.layers:
        pytest.skip(reason="the release has no layers for images")
    trial_of(release, DRAWS_FROM_ANYWHERE, IMAGES, "saving")


def test_what_a_layer_of_ones_own_draws_from_is_its_own_matter(release: SubjectProcess) -> None:
    trial_of(release, f"import numpy as np\n{OF_NUMPY}", FLOATS)
