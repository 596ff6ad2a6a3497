"""Trials on a GPU: the original, upstream's clone and the fixed one run on it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.search.hunt import draws
from clonediff.harness.subjects import NoDeviceError, Subject, SubjectProcess
from clonediff.harness.subjects.subject import has_gpu, missing
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import run

SUBJECTS = ("keras", "tf_keras", "keras/jax", "keras/torch")


@pytest.mark.slow(reason="a Keras that starts to say it; below it is told of one that is not started")
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_gpu_that_is_not_seen_is_said_at_the_start(subject: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reason = missing(Subject.parse(subject))
    if reason is not None:
        pytest.skip(reason=reason)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert "hides every GPU" in str(missing(Subject.parse(f"{subject}@gpu")))
    process = SubjectProcess(Subject.parse(f"{subject}@gpu"))
    with pytest.raises(
        NoDeviceError, match=rf"^{subject}@gpu: \w+ \S+ sees no gpu:0 here, only cpu:0.* ask for {subject}$"
    ):
        process.start()
    assert process.pid is None


def test_what_is_missing_is_told_without_starting_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert missing(Subject("keras", backend="no_such_backend")) == (
        "keras/no_such_backend: no_such_backend is not installed beside clonediff: pip install no_such_backend"
    )
    told = missing(Subject.parse("keras/numpy@gpu"))
    assert told is None if has_gpu() else "no GPU on this machine" in str(told)


@pytest.mark.gpu
@pytest.mark.parametrize("subject", SUBJECTS)
def test_fixed_is_faithful_on_a_gpu(subject: str, warm: Callable[[str], SubjectProcess]) -> None:
    reason = missing(Subject.parse(f"{subject}@gpu"))
    if reason is not None:
        pytest.skip(reason=reason)
    process = warm(f"{subject}@gpu")
    for graph in draws(process, 0, 25, cloners=("fixed",)):
        trial = run(case_of(graph), process)
        assert trial.refused is not None or trial.clones["fixed"].verdict is Verdict.FAITHFUL, graph
