"""What comparing a clone takes grows with the model as building it does, not with its square or its cube."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from clonediff.harness.subjects.observation import Clone, Observation
from clonediff.harness.trials.checks import compare
from clonediff.harness.trials.triage import causes

from .making import chain, faithful


def renamed(observed: Observation) -> Observation:
    """Each weight by another name, as in a clone made under another scope."""
    weights = tuple(replace(each, name=f"scope/{each.name}") for each in observed.shape.weights)
    return replace(observed, shape=replace(observed.shape, weights=weights))


def unchanged(observed: Observation) -> Observation:
    return observed


def calls(work: Callable[[], Any]) -> int:
    """How many functions a piece of work calls."""
    counted = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return counted


@pytest.mark.parametrize("change", [unchanged, renamed])
def test_twice_the_layers_take_twice_the_work(change: Callable[[Observation], Observation]) -> None:
    taken = []
    for layers in (100, 200):
        original = chain(*["Dense"] * layers)
        made = faithful(original)
        assert made.observation is not None
        clone = Clone(observation=change(made.observation))
        taken.append(calls(lambda original=original, clone=clone: causes(original, compare(original, clone))))
    assert taken[1] < 2.3 * taken[0], taken
