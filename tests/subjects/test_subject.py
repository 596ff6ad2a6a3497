"""A subject's name, and how its child is started."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clonediff.harness.subjects import Subject
from clonediff.harness.subjects.environment import environment


@pytest.mark.parametrize(
    ("spec", "subject"),
    [
        ("keras", Subject("keras")),
        ("tf_keras", Subject("tf_keras")),
        ("keras/jax", Subject("keras", backend="jax")),
        ("keras/torch@gpu", Subject("keras", backend="torch", device="gpu:0")),
        ("keras@gpu", Subject("keras", device="gpu:0")),
        ("keras/torch@gpu:1", Subject("keras", backend="torch", device="gpu:1")),
        ("keras==3.14.1/jax", Subject("keras", "3.14.1", "jax")),
        ("tf_keras==2.20.1", Subject("tf_keras", "2.20.1")),
        ("keras-nightly==3.16.0.dev2026102704/jax", Subject("keras", "3.16.0.dev2026102704", "jax")),
        ("keras==3.16.0+g3422977a5e.dirty-1c0f2a9b", Subject("keras", "3.16.0+g3422977a5e.dirty-1c0f2a9b")),
        ("keras==3.16.0.dev0+g3422977a5e", Subject("keras", "3.16.0.dev0+g3422977a5e")),
    ],
)
def test_a_name_is_a_subject_and_back(spec: str, subject: Subject) -> None:
    assert Subject.parse(spec) == subject
    assert str(subject) == spec


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("keras-2.2.4", "unknown release 'keras-2.2.4'; supported are keras, keras/jax, keras/torch, keras/numpy, tf_"),
        ("keras-nightly", "unknown release 'keras-nightly'; supported are keras"),
        ("work", "a Keras 3 by its place: ../CHECKOUT, ../REPOSITORY#COMMIT"),
        ("keras/theano", "no backend 'theano', choose one of tensorflow, jax, torch, numpy"),
        ("tf_keras/jax", "choose one of tensorflow"),
        ("keras@tpu", "write RELEASE[/BACKEND][@cpu or @gpu or @gpu:1]"),
        ("", "write RELEASE"),
        ("keras/jax/cpu", "write RELEASE"),
        ("keras==new", "'new' is not a version"),
        ("keras==", "'' is not a version"),
        ("keras==2.2.4", "only `clonediff fuzz` and `clonediff judge` try this release"),
        ("keras==2.3.1", "keras can be asked for from 3.1 on; supported are keras"),
        ("tf_keras==2.15.1", "tf_keras can be asked for from 2.16 on"),
    ],
)
def test_an_unknown_name_lists_what_there_is(spec: str, says: str) -> None:
    with pytest.raises(Exception, match=re.escape(says)):
        Subject.parse(spec)


def test_a_child_has_the_backend_of_its_subject_and_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mine = {"OMP_NUM_THREADS": "4", "XLA_FLAGS": "--xla_backend_optimization_level=2", "PYTHONPATH": "mine"}
    for name, value in {**mine, "CUDA_VISIBLE_DEVICES": "1"}.items():
        monkeypatch.setenv(name, value)
    variables = environment(Subject("keras", backend="jax"), ("/one", "/two"))
    assert variables["KERAS_BACKEND"] == "jax"
    assert variables["OMP_NUM_THREADS"] == "4"
    assert variables["TF_NUM_INTRAOP_THREADS"] == "1"
    assert variables["CUDA_VISIBLE_DEVICES"] == ""
    assert variables["XLA_FLAGS"] == "--xla_backend_optimization_level=2 --xla_cpu_multi_thread_eigen=false"
    assert variables["PYTHONPATH"] == f"/one:/two:{tmp_path}/mine", "a child runs in a folder of its own"
    assert environment(Subject("keras", device="gpu:0"))["CUDA_VISIBLE_DEVICES"] == "1"
