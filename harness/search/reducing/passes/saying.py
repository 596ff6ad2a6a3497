"""Passes on what a graph says beside its layers and their arguments: names, dtypes, what is frozen, sorts of inputs.

Each of these words is left out at all places of the graph at once, and then place by place.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from msgspec import structs

from clonediff.harness.search.reducing.passes.levels import Offers
from clonediff.strategies.graph import Graph, Input, Layer, Made, MalformedGraph, Seq, Value

OPEN_TO = 3
"""What an open dimension becomes."""

Part = Input | Layer | Graph
Word = Callable[[Part], Part]
"""Leaves something unsaid."""


def _nameless(part: Part) -> Part:
    return part if part.name is None else structs.replace(part, name=None)


def _thawed(part: Part) -> Part:
    if isinstance(part, Input) or (part.trainable and not (isinstance(part, Layer) and "frozen after" in part.marks)):
        return part
    if isinstance(part, Graph):
        return structs.replace(part, trainable=True)
    return structs.replace(part, trainable=True, marks=tuple(mark for mark in part.marks if mark != "frozen after"))


def _unmarked(part: Part) -> Part:
    return structs.replace(part, marks=()) if isinstance(part, Layer) and part.marks else part


def _of_the_usual_dtype(part: Part) -> Part:
    return structs.replace(part, dtype=None) if isinstance(part, Layer) and part.dtype is not None else part


def _unregularized(part: Part) -> Part:
    if not isinstance(part, Layer) or part.arg("activity_regularizer") is None:
        return part
    return structs.replace(part, args=tuple(pair for pair in part.args if pair[0] != "activity_regularizer"))


def _casting(part: Part) -> Part:
    if not isinstance(part, Layer) or part.arg("autocast") is None:
        return part
    return structs.replace(part, args=tuple(pair for pair in part.args if pair[0] != "autocast"))


def _plain(part: Part) -> Part:
    return Input(part.shape, name=part.name, batch=part.batch) if isinstance(part, Input) else part


def _usual(part: Part) -> Part:
    """The values that any input of its dtype has; whole numbers stay in range."""
    if not isinstance(part, Input) or part.fill not in ("steps", "nothing"):
        return part
    return structs.replace(part, fill="normal")


def _of_any_batch(part: Part) -> Part:
    return structs.replace(part, batch=None) if isinstance(part, Input) and part.batch is not None else part


def _needed(part: Part) -> Part:
    if not isinstance(part, Input) or not part.optional:
        return part
    return structs.replace(part, optional=False, fill="normal" if part.fill == "nothing" else part.fill)


def _around_nothing(part: Part) -> Part:
    return structs.replace(part, around=None) if isinstance(part, Input) and part.around is not None else part


def _dense(part: Part) -> Part:
    return structs.replace(part, sparse=False) if isinstance(part, Input) and part.sparse else part


def _of_rows_alike(part: Part) -> Part:
    return structs.replace(part, ragged=False) if isinstance(part, Input) and part.ragged else part


def _closed(part: Part) -> Part:
    if not isinstance(part, Input) or None not in part.shape:
        return part
    return structs.replace(part, shape=tuple(OPEN_TO if length is None else length for length in part.shape))


WORDS: tuple[Word, ...] = (
    _nameless,
    _thawed,
    _unmarked,
    _of_the_usual_dtype,
    _unregularized,
    _casting,
    _of_any_batch,
    _needed,
    _around_nothing,
    _dense,
    _of_rows_alike,
    _closed,
    _usual,
    _plain,
)


def say_less_at_once(graph: Graph) -> Offers:
    """Nothing of this at all; then nothing of each sort."""
    yield _rewritten(graph, lambda part: _all(part, WORDS))
    yield _rewritten(graph, lambda part: _all(part, WORDS[:-2]))
    for word in WORDS:
        yield _rewritten(graph, word)


def say_less(graph: Graph) -> Offers:
    """One word at one place less."""
    for word in WORDS:
        for place in range(_times_said(graph, word)):
            yield _rewritten(graph, _only(word, place))


def _times_said(graph: Graph, word: Word) -> int:
    said = []

    def note(part: Part) -> Part:
        said.append(word(part) != part)
        return part

    _rewritten(graph, note)
    return sum(said)


def _only(word: Word, place: int) -> Word:
    """The word left out at that place alone, of those where it is said."""
    numbers = count()

    def once(part: Part) -> Part:
        less = word(part)
        return less if less != part and next(numbers) == place else part

    return once


def _all(part: Part, words: tuple[Word, ...]) -> Part:
    for word in words:
        part = word(part)
    return part


def _rewritten(graph: Graph, word: Word) -> Graph | None:
    """The graph with something left unsaid, at every level."""
    try:
        return _rewritten_graph(graph, word, tuple(_input(word, each) for each in graph.inputs))
    except MalformedGraph:
        return None


def _rewritten_graph(graph: Graph, word: Word, inputs: tuple[Input, ...]) -> Graph:
    layers = tuple(_rewritten_layer(layer, word) for layer in graph.layers)
    less = word(graph)
    assert isinstance(less, Graph)
    return structs.replace(less, inputs=inputs, layers=layers)


def _input(word: Word, given: Input) -> Input:
    less = word(given)
    assert isinstance(less, Input)
    return less


def _rewritten_layer(layer: Layer, word: Word) -> Layer:
    """What the inputs of an inner model are follows from its tensors: nothing is left out of them."""
    args = tuple((key, _rewritten_value(value, word)) for key, value in layer.args)
    graph = None if layer.graph is None else _rewritten_graph(layer.graph, word, layer.graph.inputs)
    less = word(structs.replace(layer, args=args, graph=graph))
    assert isinstance(less, Layer)
    return less


def _rewritten_value(value: Value, word: Word) -> Value:
    match value:
        case Made():
            return Made(_rewritten_layer(value.layer, word))
        case Seq() if any(isinstance(item, Made) for item in value.items):
            return Seq(tuple(_rewritten_value(item, word) for item in value.items), value.form)
    return value
