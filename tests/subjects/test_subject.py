"""The names of subjects."""

from __future__ import annotations

import re

import pytest

from clonediff.harness.subjects import Subject

pytestmark = pytest.mark.no_keras


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
def test_the_name_of_a_subject_is_parsed_and_printed(spec: str, subject: Subject) -> None:
    assert Subject.parse(spec) == subject
    assert str(subject) == spec


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("keras-2.2.4", "unknown release 'keras-2.2.4'; supported: keras, keras/jax, keras/torch, keras/numpy, tf_"),
        ("keras-nightly", "unknown release 'keras-nightly'; supported: keras"),
        ("work", "Keras 3 from a path: ../CHECKOUT, ../REPOSITORY#COMMIT"),
        ("keras/theano", "no backend 'theano': choose one of tensorflow, jax, torch, numpy"),
        ("tf_keras/jax", "choose one of tensorflow"),
        ("keras@tpu", "write RELEASE[/BACKEND][@cpu or @gpu or @gpu:1]"),
        ("", "write RELEASE"),
        ("keras/jax/cpu", "write RELEASE"),
        ("keras==new", "'new' is not a version"),
        ("keras==", "'' is not a version"),
        ("keras==2.2.4", "only `clonediff fuzz` and `clonediff judge` accept this release"),
        ("keras==2.3.1", "the oldest supported release of keras is 3.1; supported: keras"),
        ("tf_keras==2.15.1", "the oldest supported release of tf_keras is 2.16"),
    ],
)
def test_the_error_for_an_invalid_name_says_what_is_valid(spec: str, message: str) -> None:
    with pytest.raises(Exception, match=re.escape(message)):
        Subject.parse(spec)
