"""What layers draw from on the releases, and what goes by the learning phase of the process, as those do."""

from __future__ import annotations

import pytest

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import run
from clonediff.strategies.graph import Call, Graph, Input, Layer, Ref
from tests.tf_keras_releases.trying import FLOATS, HEAD, IMAGES

# What the second model makes of a learning phase, the first one has not met: the noise sets it for the process.
OF_NOTHING = """
first, second = keras.Input(shape=(4,)), keras.Input(shape=(4, 4, 2))
inner = keras.Model([first, second], layers.RandomContrast(0.5)(second, training=None))
inputs = [keras.Input(shape=(4,)), keras.Input(shape=(4, 4, 2))]
called = inner(inputs)
model = keras.Model(inputs, [called, layers.GaussianNoise(0.5)(inputs[0])])
"""


def test_what_a_layer_draws_from_does_not_go_by_what_the_process_did_before(release: SubjectProcess) -> None:
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
