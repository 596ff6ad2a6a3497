"""What a property test draws: in parts, the same for a seed, and first what failed before."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from hypothesis.database import InMemoryExampleDatabase
from hypothesis.strategies import SearchStrategy

from clonediff.harness.search.property_draws import PropertyDraws
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.graph_trials import Costly, GraphTrials, Tally
from clonediff.harness.trials.trial import Hit, Trial
from clonediff.strategies import Graph
from tests.warm_keras import at_hand, graphs_of

GRAPHS = graphs_of("keras", kinds=("Dense", "LSTM"), features=(), max_instructions=3)
MORE = graphs_of("keras", kinds=("Dense", "LSTM", "Dropout", "Add", "Masking", "Reshape"))


class Named:
    """A process that is nothing but its subject."""

    def __init__(self, subject: str) -> None:
        self.subject = subject


class Watched(GraphTrials):
    """trials for graphs with a kind of layer, which knows what it looked at: what is drawn is under test, not Keras."""

    def __init__(self, kind: str, subject: str = "keras") -> None:
        self.process: Any = Named(subject)
        self.tally = Tally()
        self.rate = 0
        self.kind = kind
        self.seen: list[Graph] = []

    def asking(self) -> AbstractContextManager[None]:
        return at_hand("keras")

    def try_graph(self, graph: Graph, *, costly: Costly = None) -> Trial:
        self.seen.append(graph)
        there = any(layer.kind == self.kind for layer in graph.layers)
        return Trial(hits=(Hit(self.kind, "upstream", "t", case_of(graph, "keras"), graph),) if there else ())


def looked(draws: PropertyDraws, trials: Watched | None = None, graphs: SearchStrategy[Graph] = GRAPHS) -> list[Graph]:
    trials = trials or Watched("none")
    draws.first_new_hit(trials, graphs)
    return trials.seen


def test_the_same_seed_draws_the_same_graphs_in_parts_of_the_same_size() -> None:
    parts = [looked(PropertyDraws(16, 7, shard=shard, shards=4), graphs=MORE) for shard in range(4)]
    assert [len(each) for each in parts] == [4, 4, 4, 4]
    assert parts == [looked(PropertyDraws(16, 7, shard=shard, shards=4), graphs=MORE) for shard in range(4)]
    assert len({graph for part in parts for graph in part}) > 12, "no part is another one's"
    assert parts[0] != looked(PropertyDraws(16, 8, shard=0, shards=4), graphs=MORE)


def test_what_failed_is_tried_first_by_one_part_and_no_other() -> None:
    database = InMemoryExampleDatabase()
    found = PropertyDraws(2000, 0, database).first_new_hit(Watched("LSTM"), GRAPHS)
    assert found is not None
    first = [looked(PropertyDraws(4, 1, database, shard, 4), Watched("LSTM")) for shard in range(4)]
    assert sum(seen[0] == found.graph for seen in first) == 1
    again = PropertyDraws(4, 1, database).first_new_hit(trials := Watched("LSTM"), GRAPHS)
    assert again is not None
    assert trials.seen == [found.graph], "it is small already, and is not made smaller"


def test_what_fails_on_one_subject_is_not_tried_on_another() -> None:
    database = InMemoryExampleDatabase()
    found = PropertyDraws(2000, 0, database).first_new_hit(Watched("LSTM"), GRAPHS)
    assert found is not None
    elsewhere = looked(PropertyDraws(4, 1, database), Watched("LSTM", "keras/jax"))
    assert elsewhere[0] != found.graph


def test_what_fails_no_more_is_forgotten() -> None:
    database = InMemoryExampleDatabase()
    found = PropertyDraws(2000, 0, database).first_new_hit(Watched("LSTM"), GRAPHS)
    assert found is not None
    assert looked(PropertyDraws(4, 1, database))[0] == found.graph
    assert looked(PropertyDraws(4, 1, database))[0] != found.graph


def test_it_says_how_to_draw_the_same_again() -> None:
    assert str(PropertyDraws(80, 7)) == "--clonediff-seed 7 --clonediff-examples 80"
