"""Kinds are drawn evenly, and few graphs twice."""

from __future__ import annotations

from collections import Counter
from functools import cache
from statistics import median

import pytest

from clonediff.harness.search.sampling import sample_graphs
from clonediff.strategies import Graph, functional_graphs
from clonediff.strategies.graph import levels, made_layers
from clonediff.strategies.kinds import GENERATIONS, Generation
from clonediff.strategies.kinds.operations import is_operation
from tests.example_counts import examples
from tests.warm_keras import drawn as sample
from tests.warm_keras import graphs_of, kinds_of

GRAPHS = examples(60, 2000)
OTHERS = pytest.mark.slow(reason="the strategy of Keras 3 with other kinds: hundreds of graphs more of each generation")
EACH = ["keras", *(pytest.param(generation, marks=OTHERS) for generation in GENERATIONS if generation != "keras")]
AT_NIGHT = pytest.mark.slow(reason="2,000 graphs, each of which asks Keras some twenty questions of its own")


@cache
def drawn(generation: Generation = "keras") -> tuple[Graph, ...]:
    """Graphs as they are drawn."""
    return tuple(sample(generation, GRAPHS))


@cache
def graphs_with(generation: Generation) -> Counter[str]:
    """In how many graphs each kind is."""
    counts: Counter[str] = Counter()
    for graph in drawn(generation):
        layers = [layer for level in levels(graph) for layer in level.layers]
        counts.update({each.kind for layer in layers for each in (layer, *made_layers(layer))})
    return counts


@pytest.mark.parametrize("generation", EACH)
def test_hardly_a_graph_is_drawn_twice(generation: Generation) -> None:
    assert len(set(drawn(generation))) >= 0.97 * len(drawn(generation))


@pytest.mark.parametrize("generation", EACH)
def test_the_median_graph_has_some_layers_and_a_few_have_many(generation: Generation) -> None:
    calls = sorted(len(graph.calls) for graph in drawn(generation))
    assert calls[0] <= 1
    assert 4 <= median(calls) <= 8
    assert 16 <= calls[-1] <= 26


@pytest.mark.parametrize("generation", EACH[:2])
def test_one_kind_in_four_is_an_operation(generation: Generation) -> None:
    found = {name: count for name, count in graphs_with(generation).items() if name in kinds_of(generation)}
    operations = sum(count for name, count in found.items() if is_operation(name))
    assert 0.15 <= operations / sum(found.values()) <= 0.3


@AT_NIGHT
@pytest.mark.parametrize("generation", GENERATIONS)
def test_no_layer_is_rare(generation: Generation) -> None:
    """Each is in at least a quarter as many graphs as one of weight 1 would be, if Keras took all on any tensors."""
    found = graphs_with(generation)
    weights = {name: kind.weight for name, kind in kinds_of(generation).items() if not is_operation(name)}
    fair = sum(found.get(name, 0) for name in weights) / sum(weights.values())
    assert {name: found.get(name) for name in weights if found.get(name, 0) < fair / 4} == {}


def test_options_narrow_what_is_drawn() -> None:
    narrow = graphs_of("keras", kinds=("Dense", "Add"), max_inputs=1, max_instructions=4)
    graphs = list(sample_graphs(narrow, 50, 0))
    assert {layer.kind for graph in graphs for layer in graph.layers} == {"Dense", "Add", "Model", "Sequential"}
    assert {len(graph.inputs) for graph in graphs} == {1}


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(ValueError, match="'Dens' is not in the catalogue"):
        functional_graphs(kinds=("Dens",))
