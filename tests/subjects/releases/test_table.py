"""The table of stacks: every package is exact, and every release stands in one stack only."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from clonediff.harness.subjects.releases.table import Stack, stack_of, stacks, with_stack
from clonediff.harness.subjects.subject import Subject

EACH = pytest.mark.parametrize("stack", [pytest.param(each, id=each.tensorflow) for each in stacks()])


@EACH
def test_every_package_is_pinned_exactly_and_once(stack: Stack) -> None:
    requirements = [Requirement(pin) for pin in stack.pins]
    assert all([spec.operator for spec in each.specifier] == ["=="] for each in requirements)
    names = [canonicalize_name(each.name) for each in requirements]
    assert len(set(names)) == len(names)
    assert not {name for name in names if name in ("tensorflow", "tensorflow-cpu")}


@EACH
def test_a_stack_serves_its_own_tensorflow_and_neighbours_of_it(stack: Stack) -> None:
    assert stack.tensorflow in stack.serves
    minor = stack.tensorflow.split(".")[:2]
    assert all(version.split(".")[:2] == minor for version in stack.serves)


def test_a_release_has_one_stack() -> None:
    served = [version for stack in stacks() for version in stack.serves]
    assert len(set(served)) == len(served)


@pytest.mark.parametrize("minor", range(16))
def test_every_tensorflow_2_with_a_keras_of_its_own_has_a_stack(minor: int) -> None:
    versions = [version for version in with_stack("tensorflow") if version.split(".")[1] == str(minor)]
    assert versions
    for version in versions:
        assert stack_of("tensorflow", version) is not None
        Subject.parse(f"tensorflow=={version}")


def test_keras_2_is_laid_over_tensorflow_1() -> None:
    stack = stack_of("keras", "2.2.4")
    assert stack is not None
    assert stack.tensorflow.startswith("1.")
    assert stack_of("keras", "3.14.1") is None
