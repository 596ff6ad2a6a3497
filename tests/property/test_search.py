"""The search: what it makes of failures that are no findings, and of an interrupt."""

from __future__ import annotations

from typing import Any

import pytest

from clonediff.harness.search.draw_and_shrink import Interrupted, search
from clonediff.harness.subjects import SubjectError
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.graph_trials import GraphTrials, Hit, Tally, TriedGraph
from clonediff.harness.trials.trial import Trial
from clonediff.strategies import Graph
from tests.asked import graphs_of


class Scripted(GraphTrials):
    """trials whose looks are told in advance: the search is what is under test, and no Keras has to run for it."""

    def __init__(self, *answers: Any) -> None:
        self.tally = Tally()
        self.rate = 0
        self.looks = 0
        self._answers = answers

    def try_graph(self, graph: Graph, *, costly: bool | None = None) -> TriedGraph:
        answer = self._answers[min(self.looks, len(self._answers) - 1)]
        self.looks += 1
        if isinstance(answer, BaseException):
            raise answer
        return TriedGraph(Trial(), (Hit("f", "upstream", "t", case_of(graph, "keras"), graph),) if answer else ())


GRAPHS = graphs_of("keras")


def test_what_shows_is_made_small() -> None:
    found = search(Scripted(True), GRAPHS, examples=50, seed_=0)
    assert found is not None
    assert found.graph.calls == ()


def test_what_shows_once_and_not_again_is_no_hit() -> None:
    trials = Scripted(False, True, False)
    assert search(trials, GRAPHS, examples=50, seed_=0) is None
    assert trials.tally.unsteady == 1


def test_a_subject_that_is_lost_for_good_is_not_shrunk() -> None:
    trials = Scripted(False, False, SubjectError("gone"))
    with pytest.raises(SubjectError, match="gone"):
        search(trials, GRAPHS, examples=50, seed_=0)
    assert trials.looks == 3


def test_a_finding_outlives_a_subject_that_is_lost_while_it_is_shrunk() -> None:
    assert search(Scripted(True, True, SubjectError("gone")), GRAPHS, examples=50, seed_=0) is not None


def test_an_interrupt_hands_over_what_was_found() -> None:
    with pytest.raises(Interrupted) as caught:
        search(Scripted(True, True, KeyboardInterrupt()), GRAPHS, examples=50, seed_=0)
    assert caught.value.found is not None


def test_what_was_seen_is_looked_past() -> None:
    assert search(Scripted(True), GRAPHS, examples=20, seed_=0, seen={("upstream", "f", "")}) is None
