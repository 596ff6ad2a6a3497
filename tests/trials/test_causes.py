"""Which differences are causes, and which follow from another one; `tests/recorded` has those of real models."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clonediff.harness.subjects.observation import Failure, Observation
from clonediff.harness.trials.checks import compare
from clonediff.harness.trials.triage import causes
from clonediff.reports.records import Cause, Severity

from .checks.making import altered, chain, faithful, gives

S, R, T = "observation.shape", "observation.inference", "observation.training"
ORIGINAL = chain("Masking", "Lambda", "LSTM", "Dense")

Changes = list[tuple[str, Any]]


def broken(original: Observation, *changes: tuple[str, Any]) -> list[Cause]:
    return causes(original, compare(original, altered(faithful(original), *changes)))


def values(*steps: int, run: str = R) -> Changes:
    """Other values at these steps, and at the output."""
    return [*[(f"{run}.steps.{step}.outputs.0.digest", "x") for step in steps], (f"{run}.outputs.0.digest", "x")]


def said(cause: Cause) -> str:
    first = cause.root.first
    return f"{cause.root.check} {cause.root.aspect} {first.kind if first else ''}"


MASKS = [*[(f"{R}.steps.{step}.outputs.0.mask", None) for step in (2, 3, 4)], (f"{R}.outputs.0.mask", None)]
SHARED = [(f"{S}.layers.3.ident", 3), *((f"{S}.weights.{n}.ident", 100 + n) for n in (0, 1))]
AFTER = altered(ORIGINAL.shape, ("layers.3.calls", [gives([2, 0, 0]), gives([2, 0, 0])]))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param([*MASKS, *values(3, 4), *values(3, 4, run=T)], {"masks mask lost Lambda"}, id="values of masks"),
        pytest.param(
            [(f"{S}.layers.2.config.mask", "{}"), (f"{R}.steps.2.outputs.0.mask", None), *values(3, 4)],
            {"structure config.mask Lambda"},
            id="what comes after a setting",
        ),
        pytest.param(
            [(f"{S}.layers.4.config.units", "4"), *values(2, 3)],
            {"structure config.units Dense", "outputs value Lambda"},
            id="a setting, and what comes before it",
        ),
        pytest.param(
            [(f"{S}.layers.0.config.optional", "False"), *values(3, 4)],
            {"structure config.optional InputLayer", "outputs value LSTM"},
            id="no number of an optional input",
        ),
        pytest.param(
            [(f"{S}.trainable", False), (f"{S}.weights.0.trainable", False)],
            {"structure trainable Functional"},
            id="weights of a frozen model",
        ),
        pytest.param(
            [(f"{S}.trainable", False), (f"{S}.layers.4.trainable", False)],
            {"structure trainable Functional", "structure trainable Dense"},
            id="each layer of a model has a flag of its own",
        ),
        pytest.param(
            [(f"{S}.layers.0.name", "input_1"), *values(1, 2, 3, 4)],
            {"outputs value Masking", "structure name InputLayer"},
            id="no number of a name",
        ),
        pytest.param(
            [
                (f"{S}.layers.4.config.activity_regularizer", "l2"),
                (f"{R}.losses", ["loss 0"]),
                ("observation.trained.loss", "x"),
                *values(4),
            ],
            {"structure config.activity_regularizer Dense", "outputs value Dense"},
            id="no output of a regularizer",
        ),
        pytest.param(
            [(f"{S}.weights.1.shape", [9]), ("observation.copied", Failure("ValueError", "no")), *values(3, 4)],
            {"weights weight shape LSTM"},
            id="all numbers of weights that cannot be copied",
        ),
        pytest.param(
            [*SHARED, ("original_after", AFTER), ("again.shape.layers.3.ident", 3)],
            {"own layer shared LSTM"},
            id="weights, and what is left in the original, of a shared layer",
        ),
        pytest.param([(f"{S}.layers.0.trainable", False)], set(), id="an input has nothing to train"),
    ],
)
def test_what_follows_from_what(changes: Changes, expected: set[str]) -> None:
    assert {said(cause) for cause in broken(ORIGINAL, *changes)} == expected


def test_training_alone_is_its_own_cause_and_its_own_name() -> None:
    (inference,), (training,) = broken(ORIGINAL, *values(3, 4)), broken(ORIGINAL, *values(3, 4, run=T))
    assert said(inference) == said(training)
    assert inference.fingerprint != training.fingerprint


def test_the_same_bug_twice_in_a_graph_is_one_cause() -> None:
    original = chain("Lambda", "Dense", "Lambda")
    (cause,) = broken(original, *[(f"{S}.layers.{index}.config.mask", "{}") for index in (1, 3)])
    assert len(cause.followers) == 1


@pytest.mark.parametrize(
    ("changes", "severity"),
    [
        ([(f"{S}.layers.2.config.mask", "{}"), *values(3, 4)], Severity.COMPUTES),
        ([(f"{S}.trainable", False)], Severity.PROPERTY),
        ([(f"{S}.trainable", False), (f"{S}.weights.1.trainable", False)], Severity.TRAINS),
    ],
)
def test_a_cause_is_as_severe_as_what_follows(changes: Changes, severity: Severity) -> None:
    (cause,) = broken(ORIGINAL, *changes)
    assert (cause.root.severity, cause.severity) == (Severity.PROPERTY, severity)


@given(seed=st.integers(0, 1000), data=st.randoms(use_true_random=False))
def test_every_difference_has_one_cause(seed: int, data: random.Random) -> None:
    fields = [
        (f"{S}.layers.2.config.mask", "{}"),
        (f"{S}.layers.1.name", "renamed"),
        (f"{S}.layers.3.trainable", False),
        (f"{S}.layers.4.calls.0.args.0", {"tensor": [1, 0, 0]}),
        (f"{S}.weights.2.trainable", False),
        (f"{S}.layers.3.ident", 3),
        (f"{R}.steps.2.outputs.0.mask", None),
        (f"{R}.steps.3.outputs.0.digest", "x"),
        (f"{T}.steps.1.outputs.0.digest", "x"),
        (f"{R}.losses", []),
        ("observation.trained.gradients.0", None),
        ("twice_failure", Failure("ValueError", "no")),
        ("observation.fresh.1", False),
    ]
    chosen = data.sample(fields, data.randint(0, len(fields)))
    differences = compare(ORIGINAL, altered(faithful(ORIGINAL), *chosen))
    found = causes(ORIGINAL, differences)
    assert sorted(map(repr, differences)) == sorted(repr(one) for cause in found for one in cause.differences)
    assert len({cause.fingerprint for cause in found}) == len(found)
    assert [cause.severity for cause in found] == sorted(cause.severity for cause in found)
    shuffled = list(differences)
    random.Random(seed).shuffle(shuffled)
    assert {cause.fingerprint for cause in causes(ORIGINAL, shuffled)} == {cause.fingerprint for cause in found}
