"""The search: what it makes of failures that are no findings."""

from __future__ import annotations

from typing import Any

import pytest

from clonediff.harness.search.hunt import search
from clonediff.harness.subjects import SubjectError
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.graph_trials import Costly, GraphTrials, Tally
from clonediff.harness.trials.trial import Hit, Trial
from clonediff.strategies.program import Graph
from tests.warm_keras import process_of


class Scripted(GraphTrials):
    """trials whose looks are told in advance: the search is under test, and Keras says only what can be built."""

    def __init__(self, *answers: Any) -> None:
        self.process = process_of("keras")
        self.cloners = ("upstream",)
        self.tally = Tally()
        self.rate = 0
        self.looks = 0
        self._answers = answers

    def try_graph(self, graph: Graph, *, costly: Costly = None) -> Trial:
        answer = self._answers[min(self.looks, len(self._answers) - 1)]
        self.looks += 1
        if isinstance(answer, BaseException):
            raise answer
        return Trial(hits=(Hit("f", "upstream", "t", case_of(graph), graph),) if answer else ())


def test_what_shows_is_made_small() -> None:
    found = search(Scripted(True), examples=50, seed_=0)
    assert found is not None
    assert found.graph is not None
    assert found.graph.program.body == ()


def test_what_shows_once_and_not_again_is_no_hit() -> None:
    trials = Scripted(False, True, False)
    assert search(trials, examples=50, seed_=0) is None
    assert trials.tally.unsteady == 1


def test_a_subject_that_is_lost_for_good_is_not_reduced() -> None:
    trials = Scripted(False, False, SubjectError("gone"))
    with pytest.raises(SubjectError, match="gone"):
        search(trials, examples=50, seed_=0)
    assert trials.looks == 3


def test_a_finding_outlives_a_subject_that_is_lost_while_it_is_reduced() -> None:
    assert search(Scripted(True, True, SubjectError("gone")), examples=50, seed_=0) is not None


def test_what_was_seen_is_looked_past() -> None:
    assert search(Scripted(True), examples=20, seed_=0, seen={("upstream", "f")}) is None


@pytest.mark.parametrize(("cheap", "asked"), [(True, {False}), (False, {False, True})])
def test_the_costly_checks_are_run_again_only_where_they_are_what_shows_it(cheap: bool, asked: set[bool]) -> None:
    class Sampled(Scripted):
        """trials in which every graph is drawn for costly checks."""

        def sampled(self, graph: Graph) -> bool:
            return True

        def try_graph(self, graph: Graph, *, costly: Costly = None) -> Trial:
            seen.append(None if costly is None else bool(costly))
            self._answers = (cheap or costly is not False,)
            return super().try_graph(graph, costly=costly)

    seen: list[bool | None] = []
    found = search(Sampled(), examples=50, seed_=0)
    assert found is not None
    assert seen[:2] == [None, False]
    assert set(seen[1:]) == asked
    assert cheap or seen.count(False) == 1
