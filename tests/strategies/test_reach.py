"""Everything that a graph can hold is drawn, and evenly, within 2,000 graphs of a campaign."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from statistics import median

import pytest
from hypothesis import given, settings

from harness.search.even_draws import evenly
from reports.coverage import Counting
from reports.records import Coverage
from strategies import Graph, functional_graphs
from strategies.graph import levels
from strategies.kinds import GENERATIONS, Generation, Spec, catalogue
from strategies.typing import infer
from tests.asked import graphs_of
from tests.effort import examples

from .features import FEATURES, made_of

DRAWS = 2000
ONLY_A_FEW = {"tf_keras": examples(1200, DRAWS), "keras2": examples(1000, DRAWS), "operations": examples(1000, DRAWS)}
"""Where fewer kinds are drawn: that many show each of them as often."""
SHARD = 50
"""As many graphs of each seed as a campaign draws."""
FAR = 0.55
"""Of the pairs of layers that can follow one another: there are 15,000 in Keras 3, and in 5,000 graphs 26,000 follow
one another, with which 82% would be reached if all were as likely."""


OPERATION, LAYERS_ALONE = "operations", "layers alone"
OTHERS = pytest.mark.slow(reason="the strategy of Keras 3 with fewer kinds: a thousand graphs more of each generation")
EACH = ["keras", *(pytest.param(generation, marks=OTHERS) for generation in GENERATIONS if generation != "keras")]
GROUPS = [
    *(("keras", group) for group in ("layers", OPERATION)),
    *(
        pytest.param(generation, group, marks=OTHERS)
        for generation, group in (("tf_keras", "layers"), ("keras2", "layers"), ("tf_keras", OPERATION))
    ),
]


def drawn(generation: Generation = "keras", group: str = "layers", draws: int | None = None) -> tuple[Graph, ...]:
    """Graphs as they are drawn; of operations alone, since a graph of anything has few of their many; or of layers."""
    few = ONLY_A_FEW.get(group) or ONLY_A_FEW.get(generation)
    return _drawn(generation, group, draws or few or DRAWS)


@cache
def _drawn(generation: Generation, group: str, draws: int) -> tuple[Graph, ...]:
    alone = {OPERATION: OPERATION, LAYERS_ALONE: "layers"}.get(group)
    kinds = [name for name in kinds_of(generation) if of(name) == alone] if alone else None
    graphs = graphs_of(generation, kinds=kinds)
    return tuple(each.graph for seed in range(draws // SHARD) for each in evenly(graphs, SHARD, seed))


def of(kind: str) -> str:
    """The group that a kind is drawn in."""
    return OPERATION if catalogue("keras")[kind].family == OPERATION else "layers"


@cache
def counted(generation: Generation, group: str = "layers", draws: int | None = None) -> Coverage:
    counting = Counting()
    for graph in drawn(generation, group, draws):
        counting.add(graph)
    return counting.coverage()


@cache
def kinds_in(group: str) -> frozenset[str]:
    return frozenset(kind for graph in drawn(group=group) for kind in made_of(graph))


def kinds_of(generation: Generation) -> list[str]:
    return [name for name, kind in catalogue(generation).items() if kind.only in (None, generation)]


@pytest.mark.parametrize("kind", kinds_of("keras"))
def test_every_kind_is_drawn(kind: str) -> None:
    assert kind in kinds_in(of(kind))


@pytest.mark.parametrize("feature", FEATURES)
def test_every_feature_is_drawn(feature: str) -> None:
    assert any(FEATURES[feature](graph) for graph in drawn())


@pytest.mark.parametrize("generation", EACH)
def test_hardly_a_graph_is_drawn_twice(generation: Generation) -> None:
    graphs = drawn(generation)
    assert len(graphs) >= 1000
    assert len(set(graphs)) >= 0.97 * len(graphs)


@pytest.mark.parametrize("generation", EACH)
def test_the_median_graph_has_some_layers_and_a_few_have_many(generation: Generation) -> None:
    calls = sorted(len(graph.calls) for graph in drawn(generation))
    assert calls[0] <= 1
    assert 6 <= median(calls) <= 8
    assert 20 <= calls[-1] <= 25


@pytest.mark.parametrize("generation", EACH[:2])
def test_one_kind_in_four_is_an_operation(generation: Generation) -> None:
    found = counted(generation).kinds
    operations = sum(count for name, count in found.items() if name in catalogue(generation) and of(name) == OPERATION)
    assert 0.18 <= operations / sum(found.values()) <= 0.27


@pytest.mark.parametrize(("generation", "group"), GROUPS)
def test_no_kind_is_rare(generation: Generation, group: str) -> None:
    """Each is in at least half as many graphs as one of weight 1 would be, if all found the tensors that they take."""
    found = counted(generation, group).kinds
    weights = {name: catalogue(generation)[name].weight for name in kinds_of(generation) if of(name) == group}
    fair = sum(found.get(name, 0) for name in weights) / sum(weights.values())
    assert {name: found.get(name) for name in weights if found.get(name, 0) < fair / 2} == {}


@pytest.mark.slow(reason="2,000 graphs show the same of each kind; this is of each pair")
@pytest.mark.parametrize("generation", GENERATIONS)
def test_most_layers_follow_most_layers_that_they_can_follow(generation: Generation) -> None:
    found = counted(generation, LAYERS_ALONE, 5000).after
    pairs = can_follow(generation, drawn(generation, LAYERS_ALONE, 5000))
    reached = {pair for pair in pairs if pair[1] in found.get(pair[0], {})}
    assert len(reached) / len(pairs) >= FAR, sorted(pairs - reached)[:50]


def can_follow(generation: Generation, graphs: tuple[Graph, ...]) -> set[tuple[str, str]]:
    """The pairs of kinds of which the second takes some tensor that the first was seen to give."""
    gives: dict[str, set[Spec]] = defaultdict(set)
    for level in (level for graph in graphs for level in levels(graph)):
        for call, specs in zip(level.calls, infer(level, generation=generation)[len(level.inputs) :], strict=True):
            gives[level.layers[call.layer].kind].update(specs)
    return {
        (first, second)
        for first, specs in gives.items()
        for second in kinds_of(generation)
        if of(second) != OPERATION and any(takes(generation, second, spec) for spec in specs)
    }


def takes(generation: Generation, kind: str, spec: Spec) -> bool:
    low, high = catalogue(generation)[kind].takes
    return any(catalogue(generation)[kind].fits((spec,) * count) for count in range(low, high + 1))


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
