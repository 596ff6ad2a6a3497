"""Broken cloners on drawn models: search finds each fault and shrinks its model."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from clonediff.harness.search.search import search
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues
from clonediff.strategies.program import Apply, instructions
from tests.helpers.example_counts import runs_all_tests
from tests.planted import cloner_of

FLAKY_CLONER = """
import clonediff

calls = []


def clone(model):
    calls.append(model.name)
    copy = clonediff.clone_model(model)
    if len(calls) == 3:
        copy.layers[-1].name += "_clone"
    return copy
"""


@pytest.mark.parametrize("fault", ["mask_function_dropped", "crash_on_outputs"])
def test_a_planted_fault_is_found_and_shrunk(fault: str, keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues(), cloners=(cloner_of(fault),))
    kinds = None if runs_all_tests() else ["Lambda", "Dense", "Masking"]  # by day, only kinds that the faults break
    cause = search(trials, max_graphs=500, seed=1, kinds=kinds)
    assert cause is not None and cause.graph is not None
    assert sum(isinstance(step, Apply) for step in instructions(cause.graph.program.body)) == 1


def test_a_fault_that_only_costly_checks_find_is_reduced(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues(), cloners=(cloner_of("second_clone_broken"),))
    found = search(trials, max_graphs=60, seed=3, kinds=["Dense", "ReLU"])
    assert found is not None and found.graph is not None
    assert trials.tally.flaky == 0
    assert len(found.graph.program.body) == 1
    seen = {cause.key for cause in trials.try_graph(found.graph, costly=True).found_causes}
    assert search(trials, max_graphs=10, seed=3, kinds=["Dense", "ReLU"], seen=seen) is None
    deadline = time.monotonic() + 1000.0
    late = search(trials, max_graphs=60, seed=3, kinds=["Dense", "ReLU"], deadline=deadline, reducing_seconds=-1000.0)
    assert late is not None and late.graph is not None
    assert len(late.graph.program.body) > 1, "the graph was reduced, though no time was left"
    assert search(trials, max_graphs=60, seed=3, deadline=0.0) is None


def test_a_flaky_fault_is_counted_but_is_no_finding(keras: SubjectProcess, tmp_path: Path) -> None:
    (tmp_path / "breaks_once.py").write_text(FLAKY_CLONER)
    trials = GraphTrials(keras, KnownIssues(), cloners=(f"{tmp_path}/breaks_once:clone",))
    assert search(trials, max_graphs=8, seed=1, kinds=["Dense"]) is None
    assert trials.tally.flaky == 1
