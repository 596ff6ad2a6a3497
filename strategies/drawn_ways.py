"""Which way a drawn graph is cloned in: read from a few digits, among those that suit it.

Owns how evenly: a way has one part that is as likely as any other that suits the graph, and now and then more beside
it. Where nothing suits, the model is cloned plainly.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, TypeVar, get_args

from msgspec import structs

from strategies.chains import plainly_built, plainly_built_within
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
from strategies.way_functions import settings_of, widths
from strategies.ways import features_of, unsuited_way

T = TypeVar("T")

DIGITS = 6
"""How many a way is read from: two for its first part, what that does, what stands beside it, two for what those do."""
BESIDE = {"recursive": 2, "inputs": 4, "clone_function": 4, "call_function": 4}
"""One in so many ways has each of these beside its first part. Few models have models in them to go into."""
_ENDLESS = {("inputs", "made"): 2, ("inputs", "inner"): 2, ("clone_function", "model"): 4}
"""What tf_keras clones for ever, so that each costs the limit of a trial, is left out of all ways but one in so many:
what a layer gave (tf_keras/src/models/cloning.py:203), a model in the place of a layer
(tf_keras/src/engine/functional.py:1497), which suits far more graphs.
"""
_OF_ALL: tuple[CloneChange, ...] = ("remade", "kept", "renamed")
"""What a clone function may do to layers of all kinds at once."""
_SWAPS: tuple[CloneChange, ...] = ("dense", "recurrent")


class Sort(NamedTuple):
    """A part of a way, by the name that it has in `Way`, and what it does."""

    part: str
    does: str = ""


SORTS: tuple[Sort, ...] = (
    *(Sort("inputs", how) for how in get_args(NewInputs)[1:]),
    *(Sort("clone_function", change) for change in get_args(CloneChange)),
    *(Sort("call_function", change) for change in get_args(CallChange)),
    Sort("recursive"),
    *(Sort("wrong", wrong) for wrong in get_args(Wrong)[1:]),
)
"""Each of them is the first part of as many ways as the next, among graphs that both suit; what is wrong, which costs
little and stands alone, of half as many.
"""


def sorts_of(way: Way) -> list[Sort]:
    """The parts of a way."""
    functions = (("clone_function", way.clone_function), ("call_function", way.call_function))
    given = [Sort(part, its.change) for part, its in functions if its is not None]
    words = (("inputs", way.inputs), ("wrong", way.wrong))
    given += [Sort(part, its) for part, its in words if its]
    return given + [Sort("recursive")] * way.recursive


def cloned(graph: Graph, digits: Sequence[int], features: Collection[str]) -> Graph:
    """The graph with the way that the digits stand for.

    One that is cloned on inputs of another batch has no Sequential that they build.
    """
    built = plainly_built(plainly_built_within(graph))
    way = chosen(built, digits, features)
    if way is None:
        return graph
    return structs.replace(built if way.inputs == "batch" else plainly_built(graph), way=way)


def chosen(graph: Graph, digits: Sequence[int], features: Collection[str]) -> Way | None:
    """The way that the digits stand for, of a graph that has none; None for that of `clone_model(model)`."""
    first, more, does, beside, others, do = digits
    sorts = [sort for sort in SORTS if graph.generation != "tf_keras" or do % _ENDLESS.get(sort, 1) == 0]
    order = _shuffled(sorts, 256 * more + first)
    if others % 2:
        order.sort(key=lambda sort: sort.part == "wrong")
    way = _one_of(graph, Way(), order, does, features)
    if way is None:
        return None
    for number, (part, often) in enumerate(BESIDE.items()):
        if beside // 4**number % often == often - 1 and not any(sort.part == part for sort in sorts_of(way)):
            its = _shuffled([sort for sort in sorts if sort.part == part], others)
            way = _one_of(graph, way, its, do, features) or way
    return way


def _one_of(graph: Graph, way: Way, sorts: Sequence[Sort], which: int, features: Collection[str]) -> Way | None:
    """The way with a part of the first sort that suits."""
    offers = (offer for sort in sorts for offer in _with(graph, way, sort, which))
    there = (offer for offer in offers if all(each in features for each in features_of(offer)))
    return next((offer for offer in there if not unsuited_way(graph, offer)), None)


def _shuffled(items: Sequence[T], which: int) -> list[T]:
    """All of them in another order for each number, every order as likely as the next; as they are for 0."""
    return random.Random(which).sample(items, len(items)) if which else list(items)


def _with(graph: Graph, way: Way, sort: Sort, which: int) -> Iterator[Way]:
    """Ways with a part of that sort: on layers of one kind or of all, and with one of the settings that those have."""
    if sort.part == "clone_function":
        functions = _clone_functions(graph, sort.does, which, way.recursive)  # type: ignore[arg-type]  # one of them
        yield from (structs.replace(way, clone_function=each) for each in functions)
    elif sort.part == "call_function":
        kinds: Sequence[str | None] = (None,) if sort.does == "plain" else _shuffled(_kinds(graph), which)
        for kind in kinds:
            yield structs.replace(way, call_function=CallFunction(sort.does, kind))  # type: ignore[arg-type]  # as well
    elif sort.part == "recursive":
        # To go into the models of the model is of use to a function.
        function = way.clone_function or CloneFunction()
        yield structs.replace(way, recursive=True, clone_function=function)
        yield structs.replace(way, recursive=True)
    elif sort.part == "inputs":
        yield structs.replace(way, inputs=sort.does)
    else:
        yield structs.replace(way, wrong=sort.does)


def _clone_functions(graph: Graph, change: CloneChange, which: int, recursive: bool) -> Iterator[CloneFunction]:
    """Functions that do it to layers of one kind or to all, the others remade or kept."""
    kinds = _shuffled(_kinds(graph), which)
    if change == "set":
        pairs = [(kind, *setting) for kind in kinds for setting in settings_of(kind, graph.generation)]
        functions = [CloneFunction(change, *pair) for pair in _shuffled(pairs, which)]
    elif change in _SWAPS:
        sizes = widths(graph, recursive)
        functions = [CloneFunction(change, kind, value=size) for kind in kinds for size in sizes.get(kind, ())]
    else:
        functions = [CloneFunction(change, kind) for kind in kinds]
    if change in _OF_ALL:
        functions.insert(which % 2 * len(functions), CloneFunction(change))
    for each in functions:
        kept = structs.replace(each, others="kept")
        offers = (each, kept) if which & 4 else (kept, each)
        yield from (each,) if each.kind is None else offers


def _kinds(graph: Graph) -> list[str]:
    return sorted({layer.kind for layer in all_layers(graph) if layer.graph is None})
