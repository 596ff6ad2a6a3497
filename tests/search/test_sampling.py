"""Sampling: the same graphs for the same seed, whatever is imported, and each once."""

from __future__ import annotations

import subprocess
import sys

from hypothesis.strategies import sampled_from

from clonediff.harness.search.sampling import sample_graphs
from clonediff.strategies import Graph
from tests.waiting import PATIENCE
from tests.warm_keras import graphs_of

GRAPHS = graphs_of("keras")
DRAW = """
import hashlib, importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
from clonediff.harness.search.sampling import sample_graphs
from clonediff.strategies import to_json
from tests.warm_keras import graphs_of
digest = hashlib.sha256()
for graph in sample_graphs(graphs_of("keras"), 20, 0):
    digest.update(to_json(graph))
print(digest.hexdigest())
"""


def seeded(seed: int, count: int = 15) -> list[Graph]:
    return list(sample_graphs(GRAPHS, count, seed))


def test_a_seed_gives_the_same_graphs_each_time_however_many_are_asked_for() -> None:
    assert seeded(0) == seeded(0)
    assert seeded(0)[:10] == seeded(0, 10)
    assert set(seeded(0)[1:]).isdisjoint(seeded(1)[1:])


MORE = (
    "clonediff.reports.writing",
    "clonediff.harness.subjects.releases",
    "clonediff.harness.cli.fuzz",
    "clonediff.harness.campaign.tasks",
)


def test_what_is_drawn_does_not_depend_on_what_is_imported() -> None:
    assert _drawn() == _drawn(*MORE)


def _drawn(*modules: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", DRAW, *modules], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    return done.stdout


def test_the_first_is_the_simplest() -> None:
    assert [graph.calls for graph in (seeded(0, 1)[0], seeded(1, 1)[0])] == [(), ()]


def test_each_graph_is_drawn_once_and_drawing_ends_where_there_are_no_more() -> None:
    few = list(sample_graphs(graphs_of("keras"), 5, 0))
    drawn = list(sample_graphs(sampled_from(few), 1000, 0))
    assert sorted(drawn, key=few.index) == few
