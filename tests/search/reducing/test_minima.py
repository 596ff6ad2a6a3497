"""However large the graph that a reduction begins with, what is left is as small as the question allows."""

from __future__ import annotations

from itertools import islice

import pytest

from clonediff.harness.search.reducing import reduce
from clonediff.strategies.graph import levels
from clonediff.strategies.kinds import Generation
from tests.example_counts import examples
from tests.warm_keras import at_hand, drawn

from .questions import QUESTIONS

MINIMA = {
    "anything": 0,
    "an output twice": 0,
    "a dimension of more than two": 0,
    "an open dimension": 0,
    "a frozen layer": 1,
    "a layer named": 1,
    "a layer of kind LSTM": 1,
    "a layer of kind Conv2D": 1,
    "a layer of kind Reshape": 1,
    "a tensor twice in a call": 1,
    "a Lambda with 3 outputs": 1,
    "a fixed mask": 1,
    "a Lambda in an inner model": 2,
    "shared at several depths": 4,
    "calls that lead nowhere": 1,
    "a layer twice in a Sequential": 3,
    "a model of a class that takes an option": 0,
}
"""How many calls are left for a question, those of inner models among them."""

CASES: list[tuple[Generation, str, int]] = [
    *(("keras", name, calls) for name, calls in MINIMA.items()),
    ("tf_keras", "an output twice", 0),
    ("tf_keras", "a layer of kind LSTM", 1),
]
MANY = examples(1, 8)
"""The graphs that each reduction begins with: a different one each time."""


def kinds_for(name: str) -> tuple[str, ...] | None:
    """For a kind that is seldom drawn, it and few others; so for a mask."""
    kind = name.removeprefix("a layer of kind ")
    if name == "a fixed mask":
        kind = "LSTM"
    return None if kind == name else (kind, "Dense", "Add", "Lambda")


@pytest.mark.parametrize(("generation", "name", "calls"), CASES, ids=[f"{case[0]}-{case[1]}" for case in CASES])
def test_a_small_graph_is_found(generation: Generation, name: str, calls: int) -> None:
    with at_hand(generation):
        is_small(generation, name, calls)


def is_small(generation: Generation, name: str, calls: int) -> None:
    question = QUESTIONS[name]
    kinds = kinds_for(name)
    graphs = drawn(generation, examples(40, 500) if kinds else examples(60, 600), kinds)
    holding = list(islice(filter(question, graphs), MANY))
    if not holding:
        pytest.skip(reason="none of so few graphs shows it; more are drawn at night")
    for graph in holding:
        reduced = reduce(graph, question)
        assert sum(len(level.calls) for level in levels(reduced.graph)) <= calls, graph
