"""Broken cloners on real models: each is found, and shown on the smallest model that has what it breaks."""

from __future__ import annotations

import pytest

from clonediff.harness.search.hunt import search
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues
from clonediff.strategies.program import Apply, instructions
from tests.example_counts import everything
from tests.planted import planted

CALLS = {"mask_function_dropped": 1, "crash_on_outputs": 1, "arguments_forgotten": 1}
"""How many calls a model needs to show each."""


# By day they are sought among the layers that have what is broken, at night among all.
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(each, marks=pytest.mark.slow(reason="the longest of these searches"))
        if each == "arguments_forgotten"
        else each
        for each in CALLS
    ],
)
@pytest.mark.parametrize(
    "seed", [1, pytest.param(0, marks=pytest.mark.slow(reason="another search for the same graph"))]
)
def test_a_planted_fault_is_found_and_made_small(fault: str, seed: int, keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues(), cloners=(planted(fault),))
    kinds = None if everything() else ["Lambda", "Dense", "Masking"]
    found = search(trials, examples=500, seed_=seed, kinds=kinds)
    assert found is not None
    assert found.graph is not None
    calls = [each for each in instructions(found.graph.program.body) if isinstance(each, Apply)]
    assert len(calls) == CALLS[fault]
