"""Which way a drawn graph is cloned in: read from a few digits, among those that suit it.

A part that does not suit the graph is left out; where none is left the model is cloned plainly.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

from msgspec import structs

from strategies.graph import (
    CallChange,
    CallFunction,
    CloneChange,
    CloneFunction,
    Graph,
    NewInputs,
    Way,
    Wrong,
    all_layers,
)
from strategies.way_functions import SETTINGS, widths
from strategies.ways import CALL, CLONE, INPUTS, RECURSIVE, SPARSE, features_of, unsuited

T = TypeVar("T")

_NEW_INPUTS: tuple[NewInputs, ...] = (
    *("turned", "layers", "own", "sparse", "closed", "fresh", "wider", "half", "listed", "batch", "double", "made"),
)
"""Where one does not suit the next is taken; what no release takes comes seldom."""

_TO_SOME: tuple[CloneChange, ...] = ("replaced", "wrapped", "nested", "model", "raises")
_SWAPS: tuple[CloneChange, ...] = ("dense", "recurrent")
_WRONG: tuple[Wrong, ...] = (
    *("function", "nothing", "more", "numbers", "call", "text", "no model", "subclass", "models"),
)
_ENDLESS = 4
"""Of so many graphs that tf_keras would clone for ever, so that each costs the limit of a trial, one is drawn."""
_TO_ANY: tuple[CloneChange, ...] = ("renamed", "kept", "remade")
_IN_CALLS: tuple[CallChange, ...] = ("after", "before", "training")

DIGITS = 6
"""How many a way is read from: which parts it has, its inputs, and two for each of its functions."""


def chosen(graph: Graph, digits: Sequence[int], features: Collection[str]) -> Way | None:
    """The way that the digits stand for; None for that of `clone_model(model)`."""
    parts, inputs, clone, clone_of, call, call_of = digits
    way = Way()
    if parts % 8 == 7 and (wrong := _wrong(graph, inputs, features)):
        return wrong
    endless = graph.generation == "keras" or call_of % _ENDLESS == 0
    if RECURSIVE in features and parts & 8:
        way = _first(graph, [structs.replace(way, recursive=True)], 0) or way
    if INPUTS in features and parts & 1:
        # On what a layer made, tf_keras clones for ever (tf_keras/src/models/cloning.py:203): each costs the limit.
        kinds = [how for how in _NEW_INPUTS if how != "made" or endless]
        offers = [structs.replace(way, inputs=how) for how in kinds if how != "sparse" or SPARSE in features]
        way = _first(graph, _begun(offers, inputs), 0) or way
    if CLONE in features and parts & 2:
        changes = _begun(list(_clone_functions(structs.replace(graph, way=way), clone_of, endless)), clone)
        offers = [structs.replace(way, clone_function=each) for change in changes for each in change]
        way = _first(graph, offers, 0) or way
    if CALL in features and parts & 4 and not graph.sequential:
        calls = list(_call_functions(graph, call_of))
        start = len(calls) - 1 if call % 4 == 3 else 0
        way = _first(graph, [structs.replace(way, call_function=each) for each in calls], start) or way
    if way == Way(recursive=True) and CLONE in features:
        # To go into the models of the model is of use to a function.
        way = _first(graph, [structs.replace(way, clone_function=CloneFunction())], 0) or way
    return None if way == Way() else way


def _wrong(graph: Graph, which: int, features: Collection[str]) -> Way | None:
    ways = [Way(wrong=each) for each in _begun(_WRONG, which)]
    return _first(graph, [way for way in ways if next(features_of(way)) in features], 0)


def _first(graph: Graph, offers: Sequence[Way], start: int) -> Way | None:
    return next((way for way in _turned(offers, start) if not unsuited(structs.replace(graph, way=way))), None)


def _turned(items: Sequence[T], start: int) -> list[T]:
    at = start % len(items) if items else 0
    return [*items[at:], *items[:at]]


def _begun(items: Sequence[T], which: int) -> list[T]:
    """All of them, another first for each digit; what comes after one that does not suit is not always the same."""
    if not items:
        return []
    first, *others = _turned(items, which)
    return [first, *_turned(others, which // len(items))]


def _clone_functions(graph: Graph, which: int, endless: bool) -> Iterator[Sequence[CloneFunction]]:
    """For each thing that a clone function can do: to layers of one kind or to all, the others remade or kept."""
    kinds = _turned(_kinds(graph), which)
    some: list[str | None] = [*kinds, None] if which % 2 else [None, *kinds]
    settings = _turned(SETTINGS, which)
    yield _with_others([CloneFunction("set", kind, key, value) for key, value in settings for kind in kinds])
    sizes = widths(graph)
    for change in _SWAPS:
        swaps = [CloneFunction(change, kind, value=size) for kind in kinds for size in sizes.get(kind, ())]
        yield _with_others(swaps)
    for change in _TO_SOME:
        # A model in the place of a layer tf_keras clones for ever, too (tf_keras/src/engine/functional.py:1497).
        if change != "model" or endless:
            yield _with_others([CloneFunction(change, kind) for kind in kinds])
    for each in _TO_ANY:
        yield _with_others([CloneFunction(each, kind) for kind in some])


def _kinds(graph: Graph) -> list[str]:
    return sorted({layer.kind for layer in all_layers(graph) if layer.graph is None})


def _with_others(functions: Sequence[CloneFunction]) -> list[CloneFunction]:
    both = ([each] if each.kind is None else [each, structs.replace(each, others="kept")] for each in functions)
    return [each for offers in both for each in offers]


def _call_functions(graph: Graph, which: int) -> Iterator[CallFunction]:
    kinds = _turned(_kinds(graph), which)
    for change in _turned(_IN_CALLS, which):
        yield from (CallFunction(change, kind) for kind in kinds)
    yield CallFunction()
