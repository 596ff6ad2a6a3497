"""Drawing evenly: the same graphs for the same seed, each once, and each one that Hypothesis can make smaller."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis.database import InMemoryExampleDatabase

from clonediff.harness.search.draw_and_shrink import draw, shrink
from clonediff.harness.search.even_draws import StartingFrom, evenly
from clonediff.strategies import Graph
from tests.asked import graphs_of

GRAPHS = graphs_of("keras")


def seeded(seed: int, count: int = 30) -> list[Graph]:
    found: list[Graph] = []
    draw(GRAPHS, count, seed, found.append)
    return found


def test_a_seed_gives_the_same_graphs_each_time_however_many_are_asked_for() -> None:
    assert seeded(3) == seeded(3)
    assert seeded(3)[:10] == seeded(3, 10)
    assert set(seeded(3)[1:]).isdisjoint(seeded(4)[1:])


def test_the_first_is_the_simplest() -> None:
    assert [graph.calls for graph in (seeded(0)[0], seeded(1)[0])] == [(), ()]


def test_each_graph_is_drawn_once_and_drawing_ends_where_there_are_no_more() -> None:
    few = graphs_of("keras", kinds=("operator.half",), features=(), max_instructions=1, max_inputs=1)
    graphs = [each.graph for each in evenly(few, 1000, 0)]
    assert len(graphs) == len(set(graphs)) < 100


@pytest.mark.parametrize("seed", range(5))
def test_hypothesis_draws_a_graph_again_from_its_example(seed: int) -> None:
    *_, last = evenly(GRAPHS, 3, seed)
    seen: list[Graph] = []

    @settings(database=StartingFrom(last.example), max_examples=1, deadline=None)
    @given(GRAPHS)
    def keep(graph: Graph) -> None:
        seen.append(graph)

    keep()
    assert seen[0] == last.graph


def has_a_gru(graph: Graph) -> bool:
    return any(layer.kind == "GRU" for layer in graph.layers)


def test_what_is_found_is_made_small_and_remembered() -> None:
    found = next(each.graph for each in evenly(GRAPHS, 2000, 0) if has_a_gru(each.graph))
    kept = InMemoryExampleDatabase()
    smallest = shrink(GRAPHS, found, has_a_gru, examples=2000, seed_=0, most=500, database=kept)
    assert smallest is not None
    assert [layer.kind for layer in smallest.layers] == ["GRU"]
    assert len(found.calls) > 1
    assert any(kept.data.values())


def test_what_was_not_drawn_is_not_made_smaller() -> None:
    other = seeded(5)[-1]
    assert shrink(GRAPHS, other, lambda graph: True, examples=5, seed_=0, most=50) is None
