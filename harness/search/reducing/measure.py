"""How large a graph is, as a total order: no two graphs are of the same size, and a reduction only ever goes down.

What is compared, the first difference deciding:

1. the lines of its script: inputs, calls, models, layers that are named because they are called several times or not at
   all, marks; at every level of nesting; two for each step of its state
2. layers, those within arguments among them
3. tensors named: in the model's ends, what holds them, in calls, given by calls; and nodes that lead nowhere
4. how simple the kinds are, the simplest counting nothing
5. what is said beside that: arguments, names, dtypes, frozen parts, what an input has but its shape
6. ranks, dimensions and widths
7. how far values are from the first of their options, how much a function does
8. the length of its JSON, so of names; at last the JSON itself
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, get_args

from clonediff.strategies.graph import (
    Array,
    Axis,
    Call,
    CallChange,
    CloneChange,
    Function,
    Graph,
    Input,
    Items,
    Layer,
    NewInputs,
    OwnClass,
    Packing,
    Seq,
    Step,
    Value,
    Way,
    Wrong,
    all_layers,
    levels,
    refs,
    to_json,
)
from clonediff.strategies.kinds import CATALOGUE, LEFT_OUT
from clonediff.strategies.kinds.lambdas import EXPRESSIONS, FORMS, MASK_FORMS, MASKS, SHAPE_FORMS
from clonediff.strategies.kinds.operations import is_operation
from clonediff.strategies.pruning import idle
from clonediff.strategies.states import STEPS

PLAIN = ("Activation", "Dense", "Add", "Concatenate", "Masking", "SimpleRNN", "GRU", "LSTM", "Attention", "Lambda")
"""What other kinds are replaced by, the simplest first."""

WIDTHS = ("units", "filters", "output_dim", "n", "num_heads", "key_dim")
"""Arguments that are a dimension of what a layer gives, or of its weights: the smaller the simpler, down to 1."""

OPEN = 3
"""An open dimension counts as that many."""

CONTAINERS = ("one", "list", "tuple", "dict", "nested")
"""How a function packs what it gives, the simplest first."""

_OTHER_FORMS = (*MASK_FORMS, *SHAPE_FORMS)

_FAMILIES = (
    "core",
    "merging",
    "recurrent",
    "noise",
    "attention",
    "convolution",
    "wrappers",
    "encoding",
    "images",
    "signals",
    "conv_lstm",
    "lambdas",
    "custom",
)
"""A custom layer is a class more in the script."""

_IN_ORDER = (
    *PLAIN,
    *(kind.name for family in _FAMILIES for kind in CATALOGUE.values() if kind.family == family),
)
_RANKS: Mapping[str, int] = {name: rank for rank, name in reversed(list(enumerate(_IN_ORDER)))}

Size: TypeAlias = tuple[int, int, int, int, int, int, int, int, bytes]


def size(graph: Graph) -> Size:
    """The size of a graph, to be compared with others."""
    every, layers = list(levels(graph)), list(all_layers(graph))
    text = to_json(graph)
    return (
        sum(_lines(level) for level in every) + _parts(graph.way) + 2 * len(graph.state),
        len(layers),
        sum(_tensors(level) for level in every),
        sum(rank(layer.kind) for layer in layers if layer.graph is None),
        sum(_said(level) for level in every)
        + sum(_said_of(layer) for layer in layers)
        + sum(len(step.args) for step in graph.state),
        graph.batch + sum(_room(level) for level in every) + sum(_width(layer) for layer in layers),
        sum(_distance(layer) for layer in layers)
        + sum(_distance_of(call, level.layers[call.layer]) for level in every for call in level.calls)
        + _far_from_plain(graph.way)
        + sum(_far_from_simple(step, graph) for step in graph.state),
        len(text),
        text,
    )


def _parts(way: Way | None) -> int:
    """The arguments that `clone_model` is given; a function is some lines more."""
    if way is None:
        return 0
    functions = (way.clone_function, way.call_function)
    return int(bool(way.inputs)) + bool(way.wrong) + way.recursive + 3 * sum(each is not None for each in functions)


def _far_from_plain(way: Way | None) -> int:
    if way is None:
        return 0
    inputs, clone, call = way.inputs, way.clone_function, way.call_function
    others = clone is not None and clone.kind is not None and clone.others == "remade"
    cloned = 0 if clone is None else get_args(CloneChange).index(clone.change)
    called = 0 if call is None else get_args(CallChange).index(call.change)
    return get_args(Wrong).index(way.wrong) + get_args(NewInputs).index(inputs) + cloned + called + others


def _far_from_simple(step: Step, graph: Graph) -> int:
    sort = STEPS.get(step.does)
    args = {} if sort is None else sort.args(graph, step.kind)
    return sum(_far(value, args.get(name, ())) for name, value in step.args)


def rank(kind: str) -> int:
    """The place of a kind among all, the simplest first. Cells are as simple as a Dense, operations come last."""
    return _RANKS.get(kind, len(_RANKS) if is_operation(kind) else 1)


def _lines(graph: Graph) -> int:
    uses = [call.layer for call in graph.calls]
    named = sum(uses.count(number) != 1 for number in range(len(graph.layers)))
    marks = sum(len(layer.marks) for layer in graph.layers)
    return 1 + len(graph.inputs) + len(graph.calls) + named + marks + (graph.base is not None) + _class(graph.own)


def _class(own: OwnClass | None) -> int:
    """The lines of a class of one's own, less those that make the model."""
    if own is None:
        return 0
    return 4 + {"": 0, "option": 5, "parts": 8}[own.makes] + 2 * own.calls + own.registered


def _tensors(graph: Graph) -> int:
    ends = _nodes(graph.takes) + _nodes(graph.gives)
    if graph.base is not None:
        ends += _nodes(graph.base.takes) + _nodes(graph.base.gives)
    return (
        ends
        + len(idle(graph))
        + sum(
            call.outputs + sum(1 for value in (*call.args, *(item for _, item in call.kwargs)) for _ in refs(value))
            for call in graph.calls
        )
    )


def _nodes(value: Value) -> int:
    match value:
        case Seq(items=items, form=form):
            return 1 + (form == "tuple") + sum(_nodes(item) for item in items)
        case Items(items=pairs):
            return 3 + sum(_nodes(item) for _, item in pairs)
    return 1


def _said(graph: Graph) -> int:
    """What is said of a level beside its layers: of its inputs, of its calls, of itself."""
    return (
        sum(_said_of_input(each) for each in graph.inputs)
        + sum(len(call.kwargs) + bool(call.packing) + bool(call.axis) for call in graph.calls)
        + (graph.name is not None)
        + (not graph.trainable)
        + bool(graph.built)
    )


def _said_of_input(given: Input) -> int:
    told = (given.name is not None, given.batch is not None, given.optional, given.fill != "normal")
    return (
        sum(told)
        + (given.around is not None)
        + given.sparse
        + given.ragged
        + (given.dtype != "float32")
        + (given.high is not None)
        + given.shape.count(None)
    )


def _said_of(layer: Layer) -> int:
    return len(layer.args) + (layer.name is not None) + (not layer.trainable) + (layer.dtype is not None)


def _room(graph: Graph) -> int:
    return sum(1 + (OPEN if length is None else length) for given in graph.inputs for length in given.shape)


def _width(layer: Layer) -> int:
    return sum(value for key, value in layer.args if key in WIDTHS and isinstance(value, int))


def _distance(layer: Layer) -> int:
    kind = CATALOGUE.get(layer.kind)
    options = {} if kind is None else {**kind.more, **(kind.options if kind.arrange is None else {})}
    return sum(_far(value, options.get(key, ())) for key, value in layer.args if key not in WIDTHS)


def _distance_of(call: Call, layer: Layer) -> int:
    kind = CATALOGUE.get(layer.kind)
    options = {} if kind is None else kind.call_options
    packed = get_args(Packing).index(call.packing) + get_args(Axis).index(call.axis)
    return packed + sum(_far(value, options.get(key, ())) for key, value in call.kwargs)


def _far(value: Value, options: tuple[Value, ...]) -> int:
    """How far a value is from the simplest there is for it."""
    if options:
        told = [option for option in options if option != LEFT_OUT]
        return next((place for place, option in enumerate(told) if same(option, value)), len(told))
    match value:
        case Function(form=form, gives=gives, container=container):
            forms, texts = (FORMS, tuple(EXPRESSIONS)) if form in FORMS else (_OTHER_FORMS, MASKS)
            return (
                _place(form, forms) + sum(1 + _place(text, texts) for text in gives) + 2 * CONTAINERS.index(container)
            )
        case Array(shape=shape):
            return 10 + sum(shape)
        case Seq(items=items):
            return sum(1 + _far(item, ()) for item in items)
    return 0


def same(one: Value, other: Value) -> bool:
    """Whether two values are one: 1, 1.0 and True are three."""
    return type(one) is type(other) and one == other


def _place(item: str, items: tuple[str, ...]) -> int:
    return items.index(item) if item in items else len(items)
