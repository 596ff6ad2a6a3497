"""Each planted fault is caught by the check that it names, and the fixed cloner passes in the same trial."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.trials.checks import CHECKS
from clonediff.harness.trials.trial import Trial, run
from tests.helpers.waiting import PATIENCE
from tests.planted import cloner_of
from tests.planted.faults import CHECKS_BY_FAULT
from tests.planted.models import case

FAULTS_BY_MODEL = {
    "several": (
        "crash_on_outputs trainable_forgotten weights_copied outputs_reversed always_inference original_frozen "
        "original_reset activity_regularizer_lost"
    ),
    "nested": "layer_shared_with_original layer_unshared second_clone_broken layer_shared_between_clones",
    "masked": "mask_function_dropped",
    "own": "layer_renamed cloning_warns",
    "compiled": "gradients_reversed loss_doubled",
}
"""By model: the faults that are planted on it."""
FAULTS = [(fault, model) for model, faults in FAULTS_BY_MODEL.items() for fault in faults.split()]
Trials = Callable[[str, str], Trial]


@pytest.fixture(scope="module")
def run_faults(warm: Callable[[str], SubjectProcess]) -> Trials:
    """Return a function that runs the trial of a model with the fixed cloner and its faults."""

    @functools.cache
    def found(generation: str, model: str) -> Trial:
        cloners = {fault: cloner_of(fault) for fault in FAULTS_BY_MODEL[model].split()}
        names = ["fixed", *cloners.values()]
        trial = run(case(model, generation), warm(generation), names, costly=True, timeout=PATIENCE)
        assert trial.is_built, (trial.refusal, trial.lost)
        names_of = {"fixed": "fixed", **cloners}
        return replace(trial, clones={fault: trial.clones[name] for fault, name in names_of.items()})

    return found


@pytest.mark.parametrize(
    "generation", ["keras", pytest.param("tf_keras", marks=pytest.mark.slow(reason="the checks are those of Keras 3"))]
)
@pytest.mark.parametrize(("fault", "model"), FAULTS, ids=[fault for fault, _ in FAULTS])
def test_each_fault_is_caught_by_its_check(fault: str, model: str, generation: str, run_faults: Trials) -> None:
    found = run_faults(generation, model).clones
    assert found["fixed"].differences == ()
    parts = [f"{difference.check} {difference.part}" for difference in found[fault].differences]
    assert any(part.startswith(CHECKS_BY_FAULT[fault]) for part in parts)
    assert len(found[fault].causes) <= 5


def test_every_fault_is_planted_and_every_check_has_a_fault() -> None:
    assert {fault for fault, _ in FAULTS} == {*CHECKS_BY_FAULT} - {"aborts"}, "`aborts` leaves no clone to check"
    assert {CHECKS_BY_FAULT[fault].partition(" ")[0] for fault, _ in FAULTS} == {*CHECKS}
