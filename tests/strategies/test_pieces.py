"""Pieces of real architectures: whole where nothing is left out, and as small as anything else once they shrink."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import find, settings
from hypothesis import strategies as st

from clonediff.harness.search.sampling import sample_graphs
from clonediff.strategies import FEATURES, Graph
from clonediff.strategies.graph import Input, all_layers, refs
from clonediff.strategies.graphs import PIECES as PIECES_TOO
from clonediff.strategies.kinds import GENERATIONS, Generation
from clonediff.strategies.lowering import lower
from clonediff.strategies.pieces import (
    BYTES,
    IDS,
    IMAGE,
    PIECES,
    VECTOR,
    Piece,
    begun_with_a_piece,
    instructions_of,
    pieces_of,
)
from clonediff.strategies.programs import Apply, Domain, Nest, Program
from tests.example_counts import examples
from tests.warm_keras import PLAINLY, SEED, at_hand, graphs_of, kinds_of, lowered

from .features import begins_with, offered

LACKING = {("keras2", "an attention block with its masks")}
"""What a generation has no layers for."""


def kinds_in(piece: Piece) -> list[str]:
    """The kinds of its layers, models in it among them."""
    found = ["Model" if isinstance(each, Nest) else each.kind for each in _layers(piece)]
    return list(dict.fromkeys(found))


def _layers(piece: Piece) -> Iterator[Apply | Nest]:
    return (each for each in instructions_of(piece.body) if isinstance(each, (Apply, Nest)))


SEQUENCE = Input((3, 4))
BY_NAME = pytest.mark.parametrize("piece", PIECES, ids=[piece.name for piece in PIECES])


@pytest.mark.parametrize("generation", GENERATIONS)
@BY_NAME
def test_a_piece_is_whole(generation: Generation, piece: Piece) -> None:
    """Each of its instructions finds the tensors that it is meant for."""
    if (generation, piece.name) in LACKING:
        assert piece not in offered(generation)
        return
    assert piece in offered(generation)
    graph = lowered(Program(piece.inputs, piece.body, ends=3), generation, PLAINLY - {"idle inputs"})
    assert len(graph.calls) == len(piece.body)
    assert len(graph.inputs) == len(piece.inputs)
    assert len(list(refs(graph.gives))) == 1


@BY_NAME
def test_a_piece_shrinks_to_the_one_layer_that_matters(piece: Piece) -> None:
    graphs = of_pieces("keras")
    options = settings(max_examples=2000, database=None, deadline=None)
    for kind in kinds_in(piece):

        def has_it(graph: Graph, kind: str = kind) -> bool:
            return any(layer.kind == kind for layer in all_layers(graph))

        found = find(graphs, has_it, settings=options, random=Random(0))
        assert [layer.kind for layer in found.layers] == [kind]
        assert len(found.calls) == 1
        assert sum(layer.kind != "Model" for layer in all_layers(found)) == 1


def of_pieces(generation: Generation) -> st.SearchStrategy[Graph]:
    """Graphs of pieces alone, of which the simplest has none."""
    program = Program((VECTOR,), (), ends=3)
    domain = Domain(kinds_of(generation), PLAINLY, generation, (VECTOR, SEQUENCE, IMAGE, IDS), 4)

    def begun(drawn: bytes) -> Graph:
        with at_hand(generation):
            return lower(begun_with_a_piece(program, drawn, offered(generation), lambda kind: ("",), 4, 24), domain)

    return BYTES.map(begun)


@pytest.mark.slow(reason="some hundred graphs of each generation")
@pytest.mark.parametrize("generation", GENERATIONS)
def test_each_piece_is_drawn_within_a_thousand_graphs(generation: Generation) -> None:
    graphs = graphs_of(generation, features=FEATURES | PIECES_TOO)
    missing = {piece.name for piece in offered(generation)}
    for each in sample_graphs(graphs, 1000, 12):
        missing.difference_update(begins_with(each, generation))
        if not missing:
            return
    assert not missing


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"kinds": ("Dense", "Add"), "features": FEATURES | PIECES_TOO}, id="kinds"),
        pytest.param({"features": FEATURES}, id="features"),
        pytest.param({"max_instructions": 3, "features": FEATURES | PIECES_TOO}, id="instructions"),
    ],
)
def test_what_is_not_offered_holds_no_piece(options: dict[str, Any]) -> None:
    graphs = graphs_of("keras", **options)
    assert not any(list(begins_with(each, "keras")) for each in sample_graphs(graphs, examples(20, 60), SEED))


def test_a_piece_needs_what_it_is_made_of() -> None:
    kinds = kinds_of("keras")
    names = [piece.name for piece in PIECES]
    without_sharing = pieces_of(kinds, FEATURES - {"sharing"}, (), 4, 24)
    assert {each.name for each in without_sharing} == set(names) - {
        "an encoder and a decoder that share an embedding",
        "a network of two towers",
    }
    without_masks = pieces_of(kinds, FEATURES, ("Embedding.mask_zero",), 4, 24)
    assert {each.name for each in without_masks} == set(names) - {
        "an encoder and a decoder that share an embedding",
        "an attention block with its masks",
    }
    assert all(len(each.inputs) == 1 for each in pieces_of(kinds, FEATURES, (), 1, 24))
