"""Trials on a GPU: the original, upstream's clone and the fixed one run on it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.search.hunt import draws
from clonediff.harness.subjects import NoDeviceError, Subject, SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.trial import run
from tests.required_releases import missing

SUBJECTS = ("keras", "tf_keras", "keras/jax", "keras/torch")


@pytest.mark.slow(reason="a Keras that starts to say it")
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_gpu_that_is_not_seen_is_said_at_the_start(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := missing(name):
        pytest.skip(reason=reason)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    process = SubjectProcess(Subject.parse(f"{name}@gpu"))
    with pytest.raises(NoDeviceError, match=rf"^{name}@gpu: \w+ \S+ sees no gpu:0 here, only cpu:0.* ask for {name}$"):
        process.start()
    assert process.pid is None


@pytest.mark.gpu
@pytest.mark.parametrize("name", SUBJECTS)
def test_fixed_is_faithful_on_a_gpu(name: str, warm: Callable[[str], SubjectProcess]) -> None:
    if reason := missing(f"{name}@gpu"):
        pytest.skip(reason=reason)
    process = warm(f"{name}@gpu")
    for graph in draws(process, 0, 25, cloners=("fixed",)):
        trial = run(case_of(graph), process)
        assert trial.refused is not None or trial.clones["fixed"].verdict.value == "faithful", graph
