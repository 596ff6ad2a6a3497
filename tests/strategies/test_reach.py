"""Everything that a graph can hold is drawn, within 2,000 draws of the default settings."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from hypothesis import Phase, given, seed, settings

from harness.search.deterministic import deterministic
from strategies import Graph, functional_graphs
from strategies.kinds import CATALOGUE

from .features import FEATURES, made_of

DRAWS = 2000


@cache
def drawn() -> tuple[Graph, ...]:
    graphs: list[Graph] = []

    @seed(0)
    @settings(max_examples=DRAWS, database=None, deadline=None, phases=[Phase.generate])
    @given(functional_graphs(generation="keras"))
    def keep(graph: Graph) -> None:
        graphs.append(graph)

    with deterministic():
        keep()
    return tuple(graphs)


@pytest.mark.parametrize("kind", [name for name in CATALOGUE if CATALOGUE[name].only in (None, "keras")])
def test_every_kind_is_drawn(kind: str) -> None:
    assert any(kind in set(made_of(graph)) for graph in drawn())


@pytest.mark.parametrize("feature", FEATURES)
def test_every_feature_is_drawn(feature: str) -> None:
    assert any(FEATURES[feature](graph) for graph in drawn())


def test_graphs_are_neither_all_small_nor_all_large() -> None:
    sizes = Counter(min(len(graph.calls), 8) for graph in drawn())
    assert set(sizes) == set(range(9))
    assert sizes[8] > DRAWS / 100


def test_options_narrow_what_is_drawn() -> None:
    seen: set[str] = set()

    @settings(max_examples=100, database=None, deadline=None)
    @given(functional_graphs(kinds=("Dense", "Add"), features=("idle inputs",), max_inputs=1, max_instructions=4))
    def narrow(graph: Graph) -> None:
        seen.update(layer.kind for layer in graph.layers)
        assert len(graph.inputs) == 1
        assert len({call.layer for call in graph.calls}) == len(graph.calls)

    narrow()
    assert seen == {"Dense", "Add"}


def test_an_unknown_feature_is_named() -> None:
    with pytest.raises(ValueError, match="'shared' is not one of .*sharing"):
        functional_graphs(features=("shared",))  # type: ignore[arg-type]  # a wrong name on purpose


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(ValueError, match="'Dens' is not in the catalogue"):
        functional_graphs(kinds=("Dens",))
